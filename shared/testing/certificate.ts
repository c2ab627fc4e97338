import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/** A new self-signed certificate for `localhost`, 127.0.0.1, and the `names` and addresses. */
export const testCertificate = (...names: string[]) => testCertificateOf('ec', ...names);

/** The same with a key of type `keyType`. Creating an RSA key takes six times as long. */
export async function testCertificateOf(
  keyType: 'rsa' | 'ec',
  ...names: string[]
): Promise<{ key: string; cert: string }> {
  const altNames = ['localhost', '127.0.0.1', ...names].map((name) =>
    isIP(name) ? { type: 7 as const, ip: name } : { type: 2 as const, value: name },
  );
  const extensions = [{ name: 'subjectAltName' as const, altNames }];
  const subject = [{ name: 'commonName', value: 'localhost' }];
  const { private: key, cert } = await generate(subject, { keyType, extensions });
  return { key, cert };
}
