import { z } from 'zod';
import type { TasksContext } from './context.ts';
import type { Csrf } from './csrf.ts';
import { requireSameOrigin } from './fetch-metadata.ts';
import { Refusal } from './refusal.ts';

/** What a write asks for: the fields of a form, or of a JSON object. */
export interface Input {
  title?: string | undefined;
  finished?: 0 | 1 | undefined;
  /** The same each time that one form is sent, so that it makes one task. */
  nonce?: string | undefined;
  /** The revision that was edited. */
  revision?: string | undefined;
  /** The method that is meant: browsers send a form with `POST` alone. */
  _method?: string | undefined;
}

const json = z.object({ title: z.string(), finished: z.literal([0, 1]) }).partial();

/**
 * Reads a write once it has shown that it comes from a page of ours: JSON and an empty body by their
 * origin, which browsers do not let other sites forge for them, a form by its token as well.
 *
 * @throws Refusal `foreign_origin`, `unsupported_media_type`, `bad_json`, `bad_token`
 */
export async function readInput(c: TasksContext, csrf: Csrf): Promise<Input> {
  requireSameOrigin((name) => c.req.header(name), new URL(c.req.url).host);
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return { ...readJson(await c.req.text()), ...conditions(c) };
  if (type === undefined && c.req.method !== 'POST') return conditions(c);
  if (type !== undefined && type !== 'application/x-www-form-urlencoded') {
    throw new Refusal('unsupported_media_type', `Send a URL-encoded form or JSON, not ${type}.`);
  }
  return readForm(c, csrf);
}

/**
 * Reads a form that carries a token. It becomes the `typed` of the context, whatever happens to it next.
 */
async function readForm(c: TasksContext, csrf: Csrf): Promise<Input> {
  const { _csrf, title, finished, ...fields } = Object.fromEntries(new URLSearchParams(await c.req.text()));
  const form: Input = {
    ...fields,
    title,
    finished: finished === undefined ? undefined : finished === '1' ? 1 : 0,
  };
  c.set('typed', form);
  if (!(await csrf.verify(c, _csrf))) {
    throw new Refusal('bad_token', 'This form had expired. Your text is still here: please send it again.');
  }
  return form;
}

/** What JSON requests say in headers: RFC 9110 section 13.1.1, and the `Idempotency-Key` of its draft. */
function conditions(c: TasksContext): Input {
  return { nonce: c.req.header('idempotency-key'), revision: c.req.header('if-match') };
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
