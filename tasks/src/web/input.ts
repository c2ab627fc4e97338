import { z } from 'zod';
import { Refusal } from '../task/errors.ts';
import type { Match } from '../task/task.ts';
import { utf8 } from '../task/utf8.ts';
import { readBody } from './body.ts';
import type { TasksContext } from './context.ts';
import type { Csrf } from './csrf.ts';
import { requireSameOrigin } from './fetch-metadata.ts';

/** What a write asks for: the fields of a form, or of a JSON object and the headers with it. */
export interface Input {
  title?: string | undefined;
  finished?: 0 | 1 | undefined;
  /** The same each time that one form is sent, so that it makes one task. */
  nonce?: string | undefined;
  /** Which revision was edited. */
  match?: Match | undefined;
  /** Titles to import, one on each line. */
  text?: string | undefined;
  /** The removal to undo. */
  removal?: string | undefined;
  /** The method that is meant: browsers send a form with `POST` alone. */
  _method?: string | undefined;
}

const json = z.object({ title: z.string(), finished: z.literal([0, 1]), removal: z.string() }).partial();

/**
 * Reads a write once it has shown that it comes from a page of ours: JSON and an empty body by their
 * origin, which browsers do not let other sites forge for them, a form by its token as well.
 *
 * @throws Refusal `foreign_origin`, `unsupported_media_type`, `bad_json`, `bad_token`, `not_utf8`, `body_too_large`
 */
export async function readInput(c: TasksContext, csrf: Csrf): Promise<Input> {
  // First, so that what is too long is too long whoever sends it.
  const body = await readBody(c);
  requireSameOrigin((name) => c.req.header(name), c.req.url);
  const type = mediaType(c);
  if (type === 'application/json') return { ...readJson(utf8(body)), ...conditions(c) };
  if (type === undefined && c.req.method !== 'POST') return conditions(c);
  if (type !== undefined && type !== 'application/x-www-form-urlencoded') {
    throw new Refusal('unsupported_media_type', `Send a URL-encoded form or JSON, not ${type}.`);
  }
  return readForm(c, csrf, body);
}

/** The type of the body without its parameters, in lower case. */
export function mediaType(c: TasksContext): string | undefined {
  return c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
}

/** Reads a form that carries a token. It becomes the `typed` of the context, whatever happens to it next. */
async function readForm(c: TasksContext, csrf: Csrf, body: Buffer): Promise<Input> {
  const fields = new URLSearchParams(body.toString());
  const field = (name: string) => fields.get(name) ?? undefined;
  const finished = field('finished');
  const form: Input = {
    title: field('title'),
    finished: finished === undefined ? undefined : finished === '1' ? 1 : 0,
    nonce: field('nonce'),
    match: field('revision') && `"${field('revision')}"`,
    text: field('text'),
    removal: field('removal'),
    _method: field('_method'),
  };
  c.set('typed', form);
  requireUtf8(body);
  if (await csrf.verify(c, field('_csrf'))) return form;
  throw new Refusal('bad_token', 'This form had expired. Nothing is lost: please send it again.');
}

/** Refuses a URL-encoded body that stands for no text; `URLSearchParams` would take any bytes for it. */
function requireUtf8(body: Buffer): void {
  const encoded = body.toString('latin1');
  // Nothing but ASCII, as it is or percent-encoded: most forms.
  if (!/[^\0-\x7f]|%[89a-f]/i.test(encoded)) return;
  const byte = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  utf8(Buffer.from(encoded.replace(/%([0-9a-f]{2})/gi, byte), 'latin1'));
}

/**
 * What a JSON request says in headers: `If-Match` (RFC 9110 section 13.1.1; a tag that a
 * proxy weakened when it compressed the task names the same revision, so it is taken) and `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
 */
function conditions(c: TasksContext): Input {
  return {
    nonce: c.req.header('idempotency-key'),
    match: c.req.header('if-match'),
  };
}

function readJson(body: string): Input {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new Refusal('bad_json', 'The body is not JSON.', { cause });
  }
  const read = json.safeParse(value);
  if (read.success) return read.data;
  throw new Refusal('bad_json', 'Send an object with a "title" (text), "finished" (0 or 1), or both.');
}
