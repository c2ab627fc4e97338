import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/** A self-signed certificate for `localhost`, 127.0.0.1 and the `names` and addresses, made anew for each test run. */
export const testCertificate = (...names: string[]) => testCertificateFor(365, ...names);

/** The same, valid for so many days. */
export async function testCertificateFor(
  days: number,
  ...names: string[]
): Promise<{ key: string; cert: string }> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    notAfterDate: new Date(Date.now() + days * 86_400_000),
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          ...names.map((name) =>
            isIP(name) ? { type: 7 as const, ip: name } : { type: 2 as const, value: name },
          ),
        ],
      },
    ],
  });
  return { key, cert };
}
