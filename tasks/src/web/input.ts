import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { changeSchema, formSchema } from '../task/schema.ts';
import type { Change } from '../task/task.ts';
import { utf8 } from '../task/utf8.ts';
import { readBody } from './body.ts';
import type { TasksContext } from './context.ts';
import type { Csrf } from './csrf.ts';
import { requireSameOrigin } from './fetch-metadata.ts';

/** What a form may hold. */
const formFields = formSchema.extend({
  /** The same each time a form is sent, so that sending it twice makes one task. */
  nonce: z.string().optional(),
  /** The revision that was edited. */
  revision: z.string().optional(),
  /** The title that was edited. */
  was: z.string().optional(),
  /** Titles to import, one per line. */
  text: z.string().optional(),
  /** The removal to undo. */
  removal: z.string().optional(),
  /** The method that is meant: browsers send forms with `POST` only. */
  _method: z.string().optional(),
  /** What the login asks for. */
  password: z.string().optional(),
  /** Where the login leads. */
  next: z.string().optional(),
});

const formNames = formFields.keyof().options;

/** A form as it was sent. */
export type SentForm = Partial<Record<(typeof formNames)[number], string>>;

/** What a write asks for: the fields of a form, or of a JSON object and its headers. */
export interface Input extends Omit<z.output<typeof formFields>, 'revision'> {
  /** The revision that was edited. */
  match?: string | undefined;
}

/** The fields of a JSON write, each of which may be left out. */
type Fields = z.ZodObject;

const nothing = z.strictObject({});

/**
 * Reads a write and hands it to `act`, once it has shown that it comes from our own pages: JSON and requests without a
 * body by their origin, which browsers do not let other sites forge; a form by its token as well.
 *
 * @param fields what the action takes from JSON; by default nothing.
 * @throws TaskError `foreign_origin`, `unsupported_media_type`, `bad_json`, `invalid_field`, `not_utf8`,
 *   `body_too_large`, and whatever `act` throws; with the form, if one was sent
 */
export async function withInput<Result>(
  c: TasksContext,
  csrf: Csrf,
  act: (input: Input) => Promise<Result>,
  fields: Fields = nothing,
): Promise<Result> {
  const type = mediaType(c);
  // RFC 9110 section 9.3.5: the content of a DELETE means nothing.
  const ignored = c.req.method === 'DELETE';
  // The body comes before the origin, so that a body that is too long is too long whoever sends it.
  const body = ignored ? Buffer.alloc(0) : await readBody(c);
  requireSameOrigin(c.req);
  if (ignored) return act(conditions(c));
  if (type === 'application/json') return act({ ...readJson(utf8(body), fields), ...conditions(c) });
  if (type !== 'application/x-www-form-urlencoded' && (type || c.req.method !== 'POST')) {
    throw new TaskError(
      'unsupported_media_type',
      `Send a URL-encoded form or JSON, not ${type ?? 'nothing'}.`,
    );
  }
  return submitForm(c, csrf, body, act);
}

/** The media type of the body without its parameters, in lower case. */
export function mediaType(c: TasksContext): string | undefined {
  return c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
}

async function submitForm<Result>(
  c: TasksContext,
  csrf: Csrf,
  body: Buffer,
  act: (input: Input) => Promise<Result>,
): Promise<Result> {
  const fields = new URLSearchParams(body.toString());
  const form: SentForm = {};
  for (const name of formNames) form[name] = fields.get(name) ?? undefined;
  try {
    requireUtf8(body);
    if (!(await csrf.verify(c, fields.get('_csrf') ?? ''))) throw expired();
    const { revision, ...input } = readFields(form, formFields);
    return await act({ ...input, match: revision && `"${revision}"` });
  } catch (error) {
    if (error instanceof TaskError) error.form = form;
    throw error;
  }
}

export function expired(): TaskError {
  return new TaskError('bad_token', 'This form has expired. Nothing was changed: please send it again.');
}

const changeNames = changeSchema.keyof().options;

/** What `input` says of a task. */
export function changeOf(input: Change): Change {
  const given = changeNames.map((name) => [name, input[name]]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Rejects a URL-encoded body that is not UTF-8; `URLSearchParams` would replace what it cannot read. */
function requireUtf8(body: Buffer): void {
  const encoded = body.toString('latin1');
  const byte = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  utf8(Buffer.from(encoded.replace(/%([0-9a-f]{2})/gi, byte), 'latin1'));
}

/** The headers of a request without a form: RFC 9110 section 13.1.1, draft-ietf-httpapi-idempotency-key-header. */
function conditions(c: TasksContext): Input {
  return { nonce: c.req.header('idempotency-key'), match: c.req.header('if-match') };
}

function readJson(body: string, fields: Fields): Input {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new TaskError('bad_json', 'The body is not JSON.', { cause });
  }
  const names = Object.keys(fields.shape).map((name) => `"${name}"`);
  const advice = ` Send an object with ${names.join(', ') || 'no fields'} (see /openapi.json).`;
  return readFields(value, fields, advice) as Input;
}

/** @throws TaskError `invalid_field` */
function readFields<Schema extends Fields>(value: unknown, fields: Schema, advice = ''): z.output<Schema> {
  const read = fields.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.length ? `"${issue.path.join('.')}": ` : '';
  throw new TaskError('invalid_field', `${where}${issue?.message}.${advice}`);
}
