import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { type Format, formats } from '../task/formats.ts';
import { type Report, readLines, readTasks } from '../task/import.ts';
import type { TaskStore } from '../task/task.ts';
import { clientOf, queryParameter, type TasksContext, turnsOf } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { requireKnownOrigin, requireSameOrigin } from '../web/fetch-metadata.ts';
import { readFileForm } from '../web/file-form.ts';
import { expired, mediaType, readBody, withInput } from '../web/input.ts';
import { html, json, noStore, redirect, respond, wantsJson } from '../web/responses.ts';
import type { Views } from '../web/views.ts';

/** Max bytes of an import, enough for `maxTasks` ordinary titles. */
const maxFile = 1024 ** 2;

/** Max concurrent imports per process. Each client may run one. An import takes at most a second of CPU time. */
const maxImports = 2;

const mediaTypes = new Map<string | undefined, Format>(
  Object.values(formats).map((format) => [format.type.split(';')[0], format]),
);
const form = { form: z.object({ text: z.string().optional() }) };
const fileTypes = new Map<string | undefined, Format>(Object.entries(formats));

export function transferHandlers({ store, csrf, render, now, turns }: Dependencies) {
  /** Renders the import page. The nonce prevents a second import if the form is submitted twice. */
  const page = async (c: TasksContext, shown: Partial<Views['import']> = {}) =>
    render('import', { csrf: await csrf.issue(c), nonce: randomUUID(), ...shown });

  const importing = new Set<string>();
  /** Adds the tasks from `read` in one step. */
  const add = async <Found extends Awaited<ReturnType<typeof readTasks>>>(
    c: TasksContext,
    nonce: string | undefined,
    form: 'form' | undefined,
    read: (turn: () => Promise<void>) => Promise<Found>,
  ): Promise<Found> => {
    const client = clientOf(c);
    if (importing.has(client) || importing.size === maxImports) {
      throw new TaskError('too_many_imports', 'Another import is running. Please try again in a moment.');
    }
    importing.add(client);
    try {
      const found = await read(turnsOf(c, turns));
      await store.insert(found.tasks, nonce, form);
      return found;
    } finally {
      importing.delete(client);
    }
  };

  /** Imports the lines of a form, and shows rejected lines again for correction. */
  const importForm = async (c: TasksContext, text: string, nonce?: string) => {
    const { report, refused } = await add(c, nonce, 'form', (turn) => readLines(text, now(), turn));
    if (wantsJson(c)) return json(c, report);
    if (report.refused === 0) return imported(c, report);
    const typed = text.split(/\r?\n/);
    const left = typed.filter((_, i) => refused.has(i + 1)).join('\n');
    return html(c, await page(c, { report, typed, text: left }));
  };

  const readFile = (file: Buffer, format: Format, turn: () => Promise<void>) => {
    // Binary files and UTF-16 contain zeros.
    if (file.includes(0)) throw new TaskError('not_utf8', 'This is not a text file in UTF-8.');
    return readTasks(file, format, now(), turn);
  };

  const importUpload = async (c: TasksContext, body: Buffer) => {
    let nonce: string | undefined;
    try {
      const { fields, name, file } = readFileForm(c.req.header('content-type') ?? '', body);
      nonce = fields.nonce;
      if (!(await csrf.verify(c, fields._csrf))) throw expired();
      if (name === '') throw new TaskError('invalid_field', 'Choose a file.');
      const format = fileTypes.get(name.toLowerCase().split('.').pop()) ?? formats.text;
      const { report } = await add(c, nonce, 'form', (turn) => readFile(file, format, turn));
      return report.refused === 0 ? imported(c, report) : html(c, await page(c, { report }));
    } catch (error) {
      if (error instanceof TaskError) error.form = { text: '', nonce, isFile: 'yes' };
      throw error;
    }
  };

  return {
    async export(c: TasksContext) {
      const name = queryParameter(c, 'format') ?? (wantsJson(c) ? 'json' : 'text');
      if (name !== 'json' && name !== 'text') {
        throw new TaskError('bad_filter', `The format must be json or text, not ${JSON.stringify(name)}.`);
      }
      const format = formats[name];
      return respond(c, await written(store, format), 200, {
        'Content-Type': format.type,
        Vary: 'Accept, Accept-Encoding',
        'Content-Disposition': `attachment; filename="tasks.${name === 'json' ? 'json' : 'txt'}"`,
        ...noStore,
      });
    },

    async new(c: TasksContext) {
      const imported = Number.parseInt(queryParameter(c, 'imported') ?? '', 10);
      const report = imported >= 0 ? { imported, refused: 0, problems: [] } : undefined;
      return html(c, await page(c, { report }));
    },

    async import(c: TasksContext) {
      const type = mediaType(c);
      const format = mediaTypes.get(type);
      if (!format && type !== 'multipart/form-data')
        return withInput(c, csrf, form, ({ text = '' }, { nonce }) => importForm(c, text, nonce));
      const body = await readBody(c, maxFile);
      if (type === 'text/plain') requireKnownOrigin(c.req);
      else requireSameOrigin(c.req);
      if (!format) return importUpload(c, body);
      const nonce = c.req.header('idempotency-key');
      const { report } = await add(c, nonce, undefined, (turn) => readFile(body, format, turn));
      return json(c, report);
    },
  };
}

/** Redirects, so that a reload does not ask to send the form again. */
const imported = (c: TasksContext, { imported }: Report) =>
  redirect(c, 303, `/tasks/import?imported=${imported}`);

/** Streams all tasks as a file. Resolves after the first batch, so that an early store failure can still return 503. */
async function written(store: TaskStore, format: Format) {
  const batches = store.export()[Symbol.asyncIterator]();
  let batch = await batches.next();
  const text = async function* () {
    yield format.before;
    for (let first = true; !batch.done; batch = await batches.next()) {
      let lines = '';
      for (const task of batch.value) {
        lines += format.line(task, first);
        first = false;
      }
      yield lines;
    }
    yield format.after;
  };
  return (ReadableStream.from(text()) as ReadableStream<string>).pipeThrough(new TextEncoderStream());
}
