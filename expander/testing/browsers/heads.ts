import { randomNumbers } from '@longhand/shared/testing/random.ts';
import type { Browser } from 'playwright-core';
import { bodyReader } from '../../src/hop/body-reader.ts';
import { headReader } from '../../src/hop/response-head.ts';
import parts from './heads.json' with { type: 'json' };
import { page } from './link.ts';
import { userAgentOf, type Website } from './stage.ts';

/** Generates mostly malformed responses from the parts in heads.json. A part that is listed twice is twice as frequent. */
export function strangeResponses(count: number): string[] {
  const random = randomNumbers(1);
  const one = (of: readonly string[]) => of[Math.floor(random() * of.length)] as string;
  return Array.from({ length: count }, () => {
    // Each part is usually well-formed.
    const usually = (usual: string, of: readonly string[]) => (random() < 0.7 ? usual : one(of));
    const lineEnd = usually('\r\n', parts.lineEnd);
    const lines = Array.from(
      { length: Math.floor(random() * 5) },
      () => usually(lineEnd, parts.lineEnd) + one(parts.line),
    );
    const start = usually('', parts.junk) + usually('HTTP/1.1', parts.version) + usually(' ', parts.gap);
    return (
      start +
      usually('200', parts.status) +
      usually(' OK', parts.reason) +
      lines.join('') +
      usually('\r\n\r\n', parts.end) +
      one(parts.body)
    );
  });
}

/** Accepted differences between Longhand and Chromium, with the reasons. */
export const acceptedHeads = [
  {
    shows: /^.{0,4}ICY/s,
    reason: 'ICY: Chromium displays the response of a radio station as text, but it is not HTTP',
  },
  {
    shows: /content-length:[\t ]*[\r\n]/i,
    reason: 'an additional empty Content-Length: Chromium rejects it, but it cannot smuggle a response',
  },
  {
    shows: /chunked.*content-length|content-length.*chunked/is,
    reason: 'chunks that are truncated after Content-Length bytes: Longhand reports the page as incomplete',
  },
] as const;

const compared = ['refresh', 'x', 'y', 'vary', 'cache-control', 'content-type'];

type Reading = { status: number; headers: Record<string, string>; body: string };

const described = ({ status, headers, body }: Reading) =>
  `${status} ${JSON.stringify(compared.map((name) => headers[name]))} ${JSON.stringify(body)}`;

/** Parses a response with Longhand. @returns a summary of the response, or the path that it redirects to. */
export function longhandReads(response: string): string {
  try {
    const { read, end } = headReader();
    const whole = read(response);
    const { status, headers } = whole?.head ?? end();
    const target = [301, 302, 303, 307, 308].includes(status) && headers.location;
    if (target) return `to ${new URL(target, 'http://a.example').pathname}`;
    const body = bodyReader(headers, 1_000);
    const isWhole = !whole || body.read(whole.rest) || body.endsWithConnection;
    if (!isWhole || body.isDamaged()) return 'refused';
    const content = [204, 205, 304].includes(status) ? '' : body.body().toString('latin1');
    return described({ status, headers: headers as Record<string, string>, body: content });
  } catch {
    return 'refused';
  }
}

/** Creates a website with these responses. */
export const websiteOf =
  (responses: readonly string[]): Website =>
  ({ path }) => {
    const [, index] = /^\/r\/(\d+)$/.exec(path) ?? [];
    return index === undefined ? page('') : { raw: responses[Number(index)] as string };
  };

/** Fetches `count` responses in Chromium, from a page of the website with this index. */
export async function chromiumReads(index: number, count: number, browser: Browser): Promise<string[]> {
  const context = await browser.newContext({ userAgent: userAgentOf(index) });
  const tab = await context.newPage();
  // Avoid port 80, where Chromium accepts any text as HTTP/0.9.
  await tab.goto('http://start.example:8080/');
  const readings = await tab.evaluate(readAll, { count, names: compared });
  await context.close();
  return readings.map((reading) => (typeof reading === 'string' ? reading : described(reading)));
}

/** Fetches all responses from inside the page. */
async function readAll({ count, names }: { count: number; names: readonly string[] }) {
  const readings: (Reading | string)[] = [];
  const indexes = Array.from({ length: count }, (_, i) => i).values();
  const readSome = async () => {
    for (const index of indexes) {
      try {
        const response = await fetch(`/r/${index}`, { cache: 'no-store' });
        const bytes = new Uint8Array(await response.arrayBuffer());
        const { pathname } = new URL(response.url);
        const headers = Object.fromEntries([...response.headers].filter(([name]) => names.includes(name)));
        const body = String.fromCharCode(...bytes);
        readings[index] = response.redirected ? `to ${pathname}` : { status: response.status, headers, body };
      } catch {
        readings[index] = 'refused';
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, readSome));
  return readings;
}
