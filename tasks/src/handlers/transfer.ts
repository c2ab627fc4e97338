import { randomUUID } from 'node:crypto';
import { clientAddress, hasLeft } from '@longhand/shared/client-address.ts';
import type { Piece, Pieces } from '@longhand/shared/pieces.ts';
import { queryOf, takeTurn } from '@longhand/shared/routes.ts';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { type Format, formats } from '../task/formats.ts';
import { type Report, readLines, readTasks } from '../task/import.ts';
import { createPlaces } from '../task/places.ts';
import type { Task, TaskStore } from '../task/task.ts';
import type { TasksContext } from '../web/context.ts';
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

/** Max concurrent exports per client. Other exports of the client wait. */
const maxExports = 2;

const mediaTypes = new Map<string | undefined, Format>(
  Object.values(formats).map((format) => [format.type.split(';')[0], format]),
);
const form = { form: z.object({ text: z.string().optional() }) };
const fileTypes = new Map<string | undefined, Format>(Object.entries(formats));

export function transferHandlers({ store, csrf, render, now }: Dependencies) {
  /** The import page. The nonce prevents a second import if the form is submitted twice. */
  const page = async (c: TasksContext, shown: Partial<Views['import']> = {}) => {
    const values = { csrf: await csrf.issue(c), nonce: randomUUID(), ...shown };
    return html(c, () => render('import', values));
  };

  const placeForExport = createPlaces(maxExports);
  const importing = new Set<string>();
  const requirePlace = (client: string) => {
    if (importing.has(client) || importing.size === maxImports) {
      throw new TaskError('too_many_imports', 'Another import is running. Please try again in a moment.');
    }
  };
  /** Adds the tasks from `read` in one step. */
  const add = async <Found extends Awaited<ReturnType<typeof readTasks>>>(
    c: TasksContext,
    nonce: string | undefined,
    form: 'form' | undefined,
    read: (turn: () => Promise<void>) => Promise<Found>,
  ): Promise<Found> => {
    const client = clientAddress(c);
    requirePlace(client);
    importing.add(client);
    try {
      const found = await read(() => takeTurn(c));
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
    return page(c, { report, typed, text: left });
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
      if (!(await csrf.verify(c, fields._csrf))) throw expired(c);
      if (name === '') throw new TaskError('invalid_field', 'Choose a file.');
      const format = fileTypes.get(name.toLowerCase().split('.').pop()) ?? formats.text;
      const { report } = await add(c, nonce, 'form', (turn) => readFile(file, format, turn));
      return report.refused === 0 ? imported(c, report) : await page(c, { report });
    } catch (error) {
      if (error instanceof TaskError) error.form = { text: '', nonce, isFile: 'yes' };
      throw error;
    }
  };

  return {
    async export(c: TasksContext) {
      const name = queryOf(c).get('format') ?? (wantsJson(c) ? 'json' : 'text');
      if (name !== 'json' && name !== 'text') {
        throw new TaskError('bad_filter', `The format must be json or text, not ${JSON.stringify(name)}.`);
      }
      const format = formats[name];
      const free = await placeForExport(clientAddress(c));
      const body = await written(c, store, format, free).catch((error) => {
        free();
        throw error;
      });
      return respond(c, body, 200, {
        'Content-Type': format.type,
        Vary: 'Accept, Accept-Encoding',
        'Content-Disposition': `attachment; filename="tasks.${name === 'json' ? 'json' : 'txt'}"`,
        ...noStore,
      });
    },

    async new(c: TasksContext) {
      const imported = Number.parseInt(queryOf(c).get('imported') ?? '', 10);
      const report = imported >= 0 ? { imported, refused: 0, problems: [] } : undefined;
      return page(c, { report });
    },

    async import(c: TasksContext) {
      const type = mediaType(c);
      const format = mediaTypes.get(type);
      if (type === undefined || type === 'application/x-www-form-urlencoded')
        return withInput(c, csrf, form, ({ text = '' }, { nonce }) => importForm(c, text, nonce));
      if (!format && type !== 'multipart/form-data') {
        const types = [...mediaTypes.keys()].join(', ');
        throw new TaskError('unsupported_media_type', `Send ${types} or a form, not ${type}.`);
      }
      // Reading a file of 1 MiB only to refuse it would delay other clients.
      requirePlace(clientAddress(c));
      const body = await readBody(c, maxFile);
      if (type === 'text/plain') requireKnownOrigin(c.req);
      else requireSameOrigin(c.req);
      if (!format) return importUpload(c, body);
      const nonce = c.req.header('idempotency-key');
      try {
        const { report } = await add(c, nonce, undefined, (turn) => readFile(body, format, turn));
        return json(c, report);
      } catch (error) {
        throw withRetryAdvice(error, nonce);
      }
    },
  };
}

/** Adds to a 503 how to repeat an import, because the store may have saved the tasks. */
function withRetryAdvice(error: unknown, nonce: string | undefined): unknown {
  if (error instanceof TaskError && error.code === 'store_unavailable') {
    error.message += nonce
      ? ' Repeat the import with the same Idempotency-Key.'
      : ' The tasks may have been added. An import with an Idempotency-Key can be repeated safely.';
  }
  return error;
}

/** Redirects, so that a reload does not ask to send the form again. */
const imported = (c: TasksContext, { imported }: Report) =>
  redirect(c, 303, `/tasks/import?imported=${imported}`);

/**
 * Streams all tasks as a file, and reads each batch only once the client has taken the batch before. Resolves after the first
 * batch, so that an early store failure can still return 503.
 *
 * @param onEnd called when the stream ends, fails or is cancelled
 */
async function written(
  c: TasksContext,
  store: TaskStore,
  format: Format,
  onEnd: () => void,
): Promise<Pieces> {
  if (hasLeft(c)) throw new Error('The client has disconnected.');
  const batches = store.export()[Symbol.asyncIterator]();
  const pieces = inPieces(await batches.next(), batches, format);
  return {
    async next() {
      try {
        const piece = await pieces.next();
        if (piece.done) onEnd();
        return piece;
      } catch (error) {
        onEnd();
        throw error;
      }
    },
    async return() {
      onEnd();
      return { done: true, value: undefined };
    },
  };
}

async function* inPieces(
  first: IteratorResult<Task[]>,
  batches: AsyncIterator<Task[]>,
  format: Format,
): AsyncGenerator<Piece, undefined> {
  yield () => format.before;
  let isFirst = true;
  for (let batch = first; !batch.done; batch = await batches.next()) {
    const tasks = batch.value;
    yield () => {
      const lines = tasks.map((task, i) => format.line(task, isFirst && i === 0)).join('');
      if (tasks.length > 0) isFirst = false;
      return lines;
    };
  }
  yield () => format.after;
}
