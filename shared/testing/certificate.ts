import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/** Creates a self-signed certificate for `localhost`, 127.0.0.1, and the host names or addresses in `names`. */
export const testCertificate = (...names: string[]) => testCertificateOf('ec', ...names);

/** Creates a certificate for `localhost` that an authority has issued. The authority's certificate is not included. */
export async function issuedCertificate(): Promise<{ key: string; cert: string }> {
  const authority = await generate([{ name: 'commonName', value: 'Authority' }], { keyType: 'ec' });
  const extensions = [
    { name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'localhost' }] },
  ];
  const ca = { key: authority.private, cert: authority.cert };
  const subject = [{ name: 'commonName', value: 'localhost' }];
  const { private: key, cert } = await generate(subject, { keyType: 'ec', extensions, ca });
  return { key, cert };
}

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
