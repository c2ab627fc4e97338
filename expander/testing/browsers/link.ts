import { readFileSync } from 'node:fs';
import type { Protocol, Reply, Website } from './stage.ts';

/** A test case: a link that starts at `startOf(link)`, served by `website`. */
export interface Link {
  /** What websites speak over TLS; HTTP/1.1 by default. With HTTP/2, the link starts at https. */
  protocol?: Protocol;
  /** The same link over HTTP/1.1. */
  overHttp1?: Link;
  group: string;
  /** What the website sends in this test case. */
  sent: string;
  website: Website;
  /** Chromium's final URL if it differs from Longhand's for the given `reason`. */
  chromium?: string;
  reason?: string;
  /** What to compare instead of the final URL: the file name, or whether a script redirects. */
  compares?: 'file' | 'script';
}

export const start = 'http://start.example/a/b?q#part';

const encrypted = (url: string) => url.replace('http://start.example', 'https://start.example');

export const startOf = ({ protocol }: Link): string => (protocol === 'HTTP/2' ? encrypted(start) : start);

/** Returns the same links over HTTP/2. */
export const overHttp2 = (links: readonly Link[]): Link[] =>
  links.map((link) => ({
    ...link,
    protocol: 'HTTP/2',
    overHttp1: link,
    group: `${link.group}, over HTTP/2`,
    ...(link.chromium && { chromium: encrypted(link.chromium) }),
  }));

/** Describes a link that ends with an error page at `url`. */
export const errorAt = (url: string): string => `error at ${url}`;

/** Describes a link that ends with a saved file. */
export const savedAs = (name: string): string => `saves ${JSON.stringify(name)}`;

/** Describes a link that ends at a page whose script redirects. */
export const leftByScript = 'a script redirects';

export const page = (body: string, headers: Reply['headers'] = []): Reply => ({
  headers: [['Content-Type', 'text/html'], ...headers],
  body,
});

export const end: Reply = { headers: [['Content-Type', 'text/plain']], body: 'This is the end.' };

export const redirect = (location: string, status = 302): Reply => ({
  status,
  headers: [['Location', location]],
});

/** Creates a website whose first page is `reply`. All other pages end the chain. */
export function first(reply: Reply): Website {
  return ({ path }) => (path === '/a/b?q' ? reply : end);
}

/** Creates a link for each reply. */
export function ofReplies(group: string, replies: Record<string, Reply>): Link[] {
  return Object.entries(replies).map(([sent, reply]) => ({ group, sent, website: first(reply) }));
}

/** Creates a link for each website. */
export function ofWebsites(group: string, websites: Record<string, Website>): Link[] {
  return Object.entries(websites).map(([sent, website]) => ({ group, sent, website }));
}

/** Creates a link for each case. */
export function ofCases(group: string, cases: readonly string[], replyTo: (sent: string) => Reply): Link[] {
  return cases.map((sent) => ({ group, sent, website: first(replyTo(unescaped(sent))) }));
}

/** Creates a link for each line of `file`. A line that starts with ## names a group. */
export function ofLines(file: string, replyTo: (line: string) => Reply): Link[] {
  const [, ...groups] = readFileSync(`${import.meta.dirname}/${file}`, 'utf8')
    .trimEnd()
    .split(/^## /m);
  return groups.flatMap((text) => {
    const [group = '', ...lines] = text.trimEnd().split('\n');
    return ofCases(group, lines, replyTo);
  });
}

/** Returns the bytes of a case, as Latin-1. ␉ ␊ ␍ ␠ stand for white space, ‹fc› for a byte, and ‹u+2028› for a character. */
function unescaped(line: string): string {
  const text = line
    .replaceAll('␉', '\t')
    .replaceAll('␍', '\r')
    .replaceAll('␊', '\n')
    .replaceAll('␠', ' ')
    .replace(/‹u\+([\da-f]{4})›/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return text
    .split(/‹([\da-f]{2})›/)
    .map((part, i) => (i % 2 ? String.fromCharCode(Number.parseInt(part, 16)) : bytes(part)))
    .join('');
}

/** Encodes text in UTF-8. Returns the bytes as Latin-1. */
export function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
