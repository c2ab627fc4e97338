import { readFileSync } from 'node:fs';
import type { Reply, Website } from './stage.ts';

/** A link and its websites. It begins at `start`. */
export interface Link {
  group: string;
  /** The part of the website that the link tests. */
  sent: string;
  website: Website;
  /** Chromium's final URL if it differs from ours, and why we accept the difference. */
  chromium?: string;
  reason?: string;
  /** What to compare instead of the last URL: the file name, or whether a script redirects. */
  counts?: 'file' | 'script';
}

export const start = 'http://start.example/a/b?q#part';

/** The expected end: an error page at this URL. */
export const errorAt = (url: string): string => `error at ${url}`;

/** The expected end: a file. */
export const savedAs = (name: string): string => `saves ${JSON.stringify(name)}`;

/** The expected end: a page whose script redirects. */
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

/** A website whose first page is `reply`. All other pages are the end. */
export function first(reply: Reply): Website {
  return ({ path }) => (path === '/a/b?q' ? reply : end);
}

/** Makes a link for each reply. */
export function ofReplies(group: string, replies: Record<string, Reply>): Link[] {
  return Object.entries(replies).map(([sent, reply]) => ({ group, sent, website: first(reply) }));
}

/** Makes a link for each website. */
export function ofWebsites(group: string, websites: Record<string, Website>): Link[] {
  return Object.entries(websites).map(([sent, website]) => ({ group, sent, website }));
}

/** Makes a link for each case. */
export function ofCases(group: string, cases: readonly string[], replyTo: (sent: string) => Reply): Link[] {
  return cases.map((sent) => ({ group, sent, website: first(replyTo(unescaped(sent))) }));
}

/** Makes a link for each line of `file`. A line that begins with ## names a group. */
export function ofLines(file: string, replyTo: (line: string) => Reply): Link[] {
  const [, ...groups] = readFileSync(`${import.meta.dirname}/${file}`, 'utf8')
    .trimEnd()
    .split(/^## /m);
  return groups.flatMap((text) => {
    const [group = '', ...lines] = text.trimEnd().split('\n');
    return ofCases(group, lines, replyTo);
  });
}

/** The bytes of a case, as Latin-1. ␉ ␊ ␍ ␠ are white space, ‹fc› is a byte, ‹u+2028› a character. */
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

/** The bytes of a text in UTF-8, as Latin-1. */
export function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
