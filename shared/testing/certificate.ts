import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/** Creates a self-signed certificate for `localhost`, 127.0.0.1, and the host names or addresses in `names`. */
export const testCertificate = (...names: string[]) => testCertificateOf('ec', ...names);

/** Like `testCertificate`, with a key of type `keyType`. An RSA key takes six times as long to create. */
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
