import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { generate, type SelfsignedOptions } from 'selfsigned';

/**
 * Creates a certificate with a name of its own: of two trusted ones with the same name, OpenSSL may try only the wrong one. It has
 * been valid since yesterday, because OpenSSL's clock may be some milliseconds behind that of Node.
 */
const create = (options: SelfsignedOptions) =>
  generate([{ name: 'commonName', value: `Test ${randomUUID()}` }], {
    keyType: 'ec',
    notBeforeDate: new Date(Date.now() - 86_400_000),
    ...options,
  });

/** Creates a self-signed certificate for `localhost`, 127.0.0.1, and the host names or addresses in `names`. */
export const testCertificate = (...names: string[]) => testCertificateOf('ec', ...names);

/** Creates a certificate for `localhost` that an authority has issued. The authority's certificate is not included. */
export async function issuedCertificate(): Promise<{ key: string; cert: string }> {
  const authority = await create({});
  const extensions = [
    { name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'localhost' }] },
  ];
  const ca = { key: authority.private, cert: authority.cert };
  const { private: key, cert } = await create({ extensions, ca });
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
  const { private: key, cert } = await create({ keyType, extensions });
  return { key, cert };
}
