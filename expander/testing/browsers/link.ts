import { readFileSync } from 'node:fs';
import type { Reply, Website } from './stage.ts';

/** A link, and how its websites answer. It begins at `start`. */
export interface Link {
  group: string;
  /** What decides where it ends, in a line. */
  sent: string;
  website: Website;
  /** Where Chromium ends, if that is elsewhere, and why that is accepted. */
  chromium?: string;
  reason?: string;
  /** What counts besides the last URL: the name of the file there, or whether a script leaves it. */
  counts?: 'file' | 'script';
}

export const start = 'http://start.example/a/b?q#part';

/** The end at a URL that shows no page. */
export const errorAt = (url: string): string => `error at ${url}`;

/** The end at a file. */
export const savedAs = (name: string): string => `saves ${JSON.stringify(name)}`;

/** The end at a page that a script leaves. */
export const leftByScript = 'a script leads on';

export const page = (body: string, headers: Reply['headers'] = []): Reply => ({
  headers: [['Content-Type', 'text/html'], ...headers],
  body,
});

export const end: Reply = { headers: [['Content-Type', 'text/plain']], body: 'This is the end.' };

export const redirect = (location: string, status = 302): Reply => ({
  status,
  headers: [['Location', location]],
});

/** The first page of the link answers this, all others are the end. */
export function first(reply: Reply): Website {
  return ({ path }) => (path === '/a/b?q' ? reply : end);
}

/** Links that differ in one reply, by what decides where they end. */
export function ofReplies(group: string, replies: Record<string, Reply>): Link[] {
  return Object.entries(replies).map(([sent, reply]) => ({ group, sent, website: first(reply) }));
}

/** Links that differ in their websites. */
export function ofWebsites(group: string, websites: Record<string, Website>): Link[] {
  return Object.entries(websites).map(([sent, website]) => ({ group, sent, website }));
}

/** Makes a link of each case. */
export function ofCases(group: string, cases: readonly string[], replyTo: (sent: string) => Reply): Link[] {
  return cases.map((sent) => ({ group, sent, website: first(replyTo(unescaped(sent))) }));
}

/** Makes a link of each line of `file`. A line that begins with ## names the group of the next lines. */
export function ofLines(file: string, replyTo: (line: string) => Reply): Link[] {
  const [, ...groups] = readFileSync(`${import.meta.dirname}/${file}`, 'utf8')
    .trimEnd()
    .split(/^## /m);
  return groups.flatMap((text) => {
    const [group = '', ...lines] = text.trimEnd().split('\n');
    return ofCases(group, lines, replyTo);
  });
}

/** The bytes, as Latin-1, that a case stands for: ␉ ␊ ␍ ␠ for white space, ‹fc› for a byte, ‹u+2028› for a character. */
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

/** A text in UTF-8, each byte a character. */
export function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
