import { generate } from 'selfsigned';

/** A self-signed certificate for `localhost`, 127.0.0.1 and the `names`, made anew for each test run. */
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
          ...names.map((value) => ({ type: 2 as const, value })),
        ],
      },
    ],
  });
  return { key, cert };
}
