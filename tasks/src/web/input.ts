import { readParameters } from '@longhand/shared/parameters.ts';
import { isEncodedUtf8 } from '@longhand/shared/percent-encoding.ts';
import { takeTurn } from '@longhand/shared/routes.ts';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { maxText } from '../task/import.ts';
import { notUtf8, utf8 } from '../task/utf8.ts';
import type { TasksContext } from './context.ts';
import type { Csrf } from './csrf.ts';
import { requireSameOrigin } from './fetch-metadata.ts';
import { readMultipart, type SentFile } from './multipart.ts';

/** The method and conditions of a write. API clients send the method and headers, and browser forms send fields instead. */
export interface Intent {
  method: string;
  /** The edited revision: If-Match (RFC 9110, section 13.1.1), or the field `revision`. */
  match?: string | undefined;
  /** Makes retries safe: Idempotency-Key (draft-ietf-httpapi-idempotency-key-header), or the field `nonce`. */
  nonce?: string | undefined;
  /** The Idempotency-Key of a form sent by a script, which later asks for the tasks that the request has added. */
  key?: string | undefined;
}

/** Form fields that set the intent. */
const intentNames = ['_method', 'revision', 'nonce'] as const;

type Fields = z.ZodObject;

type Act<Form extends Fields, Result> = (
  input: Partial<z.output<Form>>,
  intent: Intent,
  file?: SentFile,
) => Promise<Result>;

/** The fields that an action accepts in a form and in JSON, all optional. */
interface Accepted<Form extends Fields> {
  form: Form;
  json?: Fields;
  /** Accepts a multipart form, which has a long text or a file. */
  multipart?: true;
}

export const nothing = { form: z.object({}), json: z.strictObject({}) };

/**
 * Reads the body of a write and calls `act`. Requires a request from our origin, and a token in each form.
 *
 * @throws TaskError `foreign_origin`, `unsupported_media_type`, `bad_json`, `invalid_field`, `not_utf8`,
 *   `body_too_large`, and errors from `act`. Each error includes the submitted form, if any.
 */
export async function withInput<Form extends Fields, Result>(
  c: TasksContext,
  csrf: Csrf,
  { form, json = nothing.json, multipart }: Accepted<Form>,
  act: Act<Form, Result>,
): Promise<Result> {
  const type = mediaType(c);
  const isMultipart = multipart === true && type === multipartType;
  // A DELETE body has no meaning (RFC 9110, section 9.3.5).
  const ignored = c.req.method === 'DELETE';
  // A refusal that does not depend on the body must not wait for it.
  requireSameOrigin(c.req);
  const isForm = isMultipart || type === encodedType || (!type && c.req.method === 'POST');
  if (!ignored && !isForm && type !== 'application/json') {
    throw new TaskError(
      'unsupported_media_type',
      `Send a URL-encoded form or JSON, not ${type ?? 'a body without a type'}.`,
    );
  }
  const body = ignored ? Buffer.alloc(0) : await readBody(c, isMultipart ? maxMultipart : maxForm);
  const intent = {
    method: c.req.method,
    match: strongTags(c.req.header('if-match')),
    nonce: c.req.header('idempotency-key'),
  };
  if (ignored) return act({}, intent);
  if (type === 'application/json') return act(readJson(utf8(body), json) as Partial<z.output<Form>>, intent);
  if (isMultipart) {
    const { fields, file } = readMultipart(c.req.header('content-type') ?? '', body);
    return submitForm(c, csrf, form, { get: (name) => fields.get(name), file }, act);
  }
  return submitForm(c, csrf, form, readUrlEncoded(body), act);
}

interface SentFields {
  get(name: string): string | undefined;
  file?: SentFile | undefined;
  /** @throws TaskError `not_utf8` */
  requireUtf8?(): void;
}

function readUrlEncoded(body: Buffer): SentFields {
  const text = body.toString();
  return {
    get: readParameters(text).get,
    requireUtf8() {
      utf8(body);
      if (!isEncodedUtf8(text)) throw notUtf8();
    },
  };
}

const multipartType = 'multipart/form-data';
const encodedType = 'application/x-www-form-urlencoded';

/** The types that browsers send. */
export const formTypes = [encodedType, multipartType];

/** Maximum bytes of a form, far more than the longest percent-encoded title. */
const maxForm = 64 * 1024;

/** Maximum bytes of a form with a text or a file. Browsers send each line break of a text as two bytes. */
const maxMultipart = maxText + maxForm;

/** Whether a request is a form that may be longer than others. */
export const isLongForm = (c: TasksContext): boolean =>
  mediaType(c) === multipartType && !(Number(c.req.header('content-length')) <= maxForm);

/**
 * Reads a body, and waits for the client's turn to use it. Avoids a web stream if the length is known, because a stream would double the CPU time of a write.
 *
 * @throws TaskError `body_too_large`
 */
export async function readBody(c: TasksContext, maxBytes = maxForm): Promise<Buffer> {
  const body = await receiveBody(c, maxBytes);
  await takeTurn(c);
  return body;
}

async function receiveBody(c: TasksContext, maxBytes: number): Promise<Buffer> {
  const length = c.req.header('content-length');
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // Node ends a body after its Content-Length, so the client cannot send more.
  if (length !== undefined) return Buffer.from(await c.req.raw.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of c.req.raw.body?.values({ preventCancel: true }) ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): TaskError {
  const limit = maxBytes < maxText ? `${maxBytes / 1024} KiB.` : '1 MiB. Send it in parts.';
  return new TaskError('body_too_large', `This is too long. The limit is ${limit}`);
}

/** Returns the strong tags in If-Match. Weak tags such as `W/"3"` and malformed fields match nothing (RFC 9110, section 13.1.1). */
function strongTags(field: string | undefined): string | undefined {
  if (field === undefined || field.trim() === '*') return field?.trim();
  const tag = /(?:W\/)?"[^"]*"/g;
  const isList = field
    .replace(tag, '""')
    .split(',')
    .every((part) => ['', '""'].includes(part.trim()));
  return isList ? (field.match(tag) ?? []).filter((one) => one.startsWith('"')).join() : '';
}

/** Returns the media type of the body in lower case, without parameters. */
export function mediaType(c: TasksContext): string | undefined {
  return c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
}

async function submitForm<Form extends Fields, Result>(
  c: TasksContext,
  csrf: Csrf,
  fields: Form,
  sent: SentFields,
  act: Act<Form, Result>,
): Promise<Result> {
  const form: Record<string, string> = {};
  for (const name of [...Object.keys(fields.shape), ...intentNames]) {
    const value = sent.get(name);
    if (value !== undefined) form[name] = value;
  }
  try {
    sent.requireUtf8?.();
    if (!(await csrf.verify(c, sent.get('_csrf')))) throw expired(c);
    const { _method: method = c.req.method, revision, nonce } = form;
    const key = c.req.header('idempotency-key');
    const intent = { method, match: revision && `"${revision}"`, nonce, key };
    return await act(readFields(form, fields), intent, sent.file);
  } catch (error) {
    if (error instanceof TaskError) error.form = sent.file ? { ...form, text: '', isFile: 'yes' } : form;
    throw error;
  }
}

/** Returns the error for a form without a valid token. */
function expired(c: TasksContext): TaskError {
  const message = 'This form has expired, so nothing was changed. Please send it again.';
  const hasCookie = c.req.header('cookie')?.includes('session-');
  const advice =
    'If it fails again, your browser blocks cookies. Allow them for this page. Without cookies, you can only read the list, ' +
    'and finish and reopen tasks.';
  return new TaskError('bad_token', hasCookie ? message : `${message} ${advice}`);
}

function readJson(body: string, fields: Fields): object {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new TaskError('bad_json', 'The body is not valid JSON.', { cause });
  }
  const names = Object.keys(fields.shape).map((name) => `"${name}"`);
  const advice = ` Send an object with ${names.join(', ') || 'no fields'} (see /openapi.json).`;
  return readFields(value, fields, advice);
}

/** @throws TaskError `invalid_field` */
function readFields<Schema extends Fields>(value: unknown, fields: Schema, advice = ''): z.output<Schema> {
  const read = fields.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.length ? `"${issue.path.join('.')}": ` : '';
  throw new TaskError('invalid_field', `${where}${issue?.message}.${advice}`);
}
