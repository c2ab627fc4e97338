import { randomUUID } from 'node:crypto';
import { clientAddress, hasLeft } from '@longhand/shared/client-address.ts';
import { within } from '@longhand/shared/durations.ts';
import type { Piece, Pieces } from '@longhand/shared/pieces.ts';
import { queryOf, takeTurn } from '@longhand/shared/routes.ts';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { type Format, formats } from '../task/formats.ts';
import { linesAt, maxText, type Report, readLines, readTasks } from '../task/import.ts';
import { createPlaces } from '../task/places.ts';
import type { Insert, Task, TaskStore } from '../task/task.ts';
import type { TasksContext } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { requireKnownOrigin, requireSameOrigin } from '../web/fetch-metadata.ts';
import { formTypes, isLongForm, mediaType, readBody, withInput } from '../web/input.ts';
import { readChange, tellInsert, undoOfImport } from '../web/last-change.ts';
import type { SentFile } from '../web/multipart.ts';
import { html, json, noStore, redirect, respond, wantsJson } from '../web/responses.ts';
import type { Views } from '../web/views.ts';
import type { Imports } from './imports.ts';

/** Maximum concurrent exports per client. Other exports of the client wait. */
const maxExports = 2;
/** Maximum milliseconds that an export waits. nginx waits 9 s for a response. */
const maxWait = 8_000;

const mediaTypes = new Map<string | undefined, Format>(
  Object.values(formats).map((format) => [format.type.split(';')[0], format]),
);
const form = { form: z.object({ text: z.string().optional() }), multipart: true } as const;
const fileTypes = new Map<string | undefined, Format>(Object.entries(formats));

export function transferHandlers(
  { store, csrf, cookies, render, now }: Dependencies,
  { requirePlace, inPlace }: Imports,
) {
  /** The import page. The nonce prevents a second import if the form is submitted twice. */
  const page = async (c: TasksContext, shown: Partial<Views['import']> = {}) => {
    const values = { csrf: await csrf.issue(c), nonce: randomUUID(), ...shown };
    return html(c, () => render('import', values));
  };

  const placeForExport = createPlaces(maxExports);

  /** Adds the tasks from `read` in one step. */
  const add = <Found extends Awaited<ReturnType<typeof readTasks>>>(
    c: TasksContext,
    nonce: string | undefined,
    form: 'form' | undefined,
    read: (turn: () => Promise<void>) => Promise<Found>,
  ): Promise<Found & { insert?: Insert | undefined }> =>
    inPlace(c, async () => {
      const found = await read(() => takeTurn(c));
      return { ...found, insert: await store.insert(found.tasks, nonce, form) };
    });

  /** Imports the lines of a form, and shows rejected lines again for correction. */
  const importForm = async (c: TasksContext, text: string, nonce?: string) => {
    const { report, refused, insert } = await add(c, nonce, 'form', (turn) => readLines(text, now(), turn));
    if (wantsJson(c)) return json(c, report);
    if (insert) await tellInsert(cookies, c, insert);
    if (report.refused === 0) return imported(c, report, insert);
    const typed = await linesAt(text, refused, () => takeTurn(c));
    const left = [...typed.values()].join('\n');
    return page(c, { report, typed, text: left, undo: insert && undoOfImport(insert) });
  };

  const readFile = (file: Buffer, format: Format, turn: () => Promise<void>) => {
    // Binary files and UTF-16 contain zeros.
    if (file.includes(0)) throw new TaskError('not_utf8', 'This is not a text file in UTF-8.');
    return readTasks(file, format, now(), turn);
  };

  const importUpload = async (c: TasksContext, { name, content }: SentFile, nonce?: string) => {
    if (name === '') throw new TaskError('invalid_field', 'Choose a file.');
    const format = fileTypes.get(name.toLowerCase().split('.').pop()) ?? formats.text;
    const { report, insert } = await add(c, nonce, 'form', (turn) => readFile(content, format, turn));
    if (insert) await tellInsert(cookies, c, insert);
    if (report.refused === 0) return imported(c, report, insert);
    return page(c, { report, undo: insert && undoOfImport(insert) });
  };

  return {
    async export(c: TasksContext) {
      const name = queryOf(c).get('format') ?? (wantsJson(c) ? 'json' : 'text');
      if (name !== 'json' && name !== 'text') {
        throw new TaskError('bad_filter', `The format must be json or text, not ${JSON.stringify(name)}.`);
      }
      const format = formats[name];
      const place = placeForExport(clientAddress(c));
      const free = await within(maxWait, place, undefined);
      if (!free) {
        place.then((freeLater) => freeLater());
        throw new TaskError('too_many_exports', 'Two exports are running. Please try again in a moment.');
      }
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
      const query = queryOf(c);
      const imported = Number.parseInt(query.get('imported') ?? '', 10);
      if (!(imported >= 0)) return page(c);
      // The list offers Undo, too, so the cookie stays. It may be about a later change.
      const change = await readChange(cookies, c);
      const isImport = change && 'first' in change && change.first === query.get('first');
      return page(c, {
        report: { imported, refused: 0, problems: [] },
        undo: isImport ? undoOfImport(change) : undefined,
      });
    },

    async import(c: TasksContext) {
      const type = mediaType(c);
      const format = mediaTypes.get(type);
      if (format || isLongForm(c)) requirePlace(c);
      if (type === undefined || formTypes.includes(type)) {
        return withInput(c, csrf, form, ({ text = '' }, { nonce }, file) =>
          file ? importUpload(c, file, nonce) : importForm(c, text, nonce),
        );
      }
      if (!format) {
        const types = [...mediaTypes.keys()].join(', ');
        throw new TaskError('unsupported_media_type', `Send ${types} or a form, not ${type}.`);
      }
      if (type === 'text/plain') requireKnownOrigin(c.req);
      else requireSameOrigin(c.req);
      const body = await readBody(c, maxText);
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

/** Redirects, so that a reload does not ask to send the form again. The first task's ID tells which import the page can undo. */
function imported(c: TasksContext, { imported }: Report, insert: Insert | undefined) {
  const first = insert ? `&first=${insert.first}` : '';
  return redirect(c, 303, `/tasks/import?imported=${imported}${first}`);
}

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
