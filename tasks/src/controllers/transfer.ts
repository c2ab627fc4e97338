import { randomUUID } from 'node:crypto';
import { TaskError } from '../task/errors.ts';
import { type Format, formats, jsonLines } from '../task/formats.ts';
import { importTasks, readLines } from '../task/import.ts';
import type { NewTask, TaskStore } from '../task/task.ts';
import { limitedBody } from '../web/body.ts';
import { queryParameter, type TasksContext } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { errorStatus, problem } from '../web/error-response.ts';
import { requireKnownOrigin, requireSameOrigin } from '../web/fetch-metadata.ts';
import { expired, type Input, mediaType, withInput } from '../web/input.ts';
import { html, json, noStore, respond, wantsJson } from '../web/responses.ts';
import { type Upload, withUpload } from '../web/upload.ts';
import type { Views } from '../web/views.ts';

/** Bytes of an imported file: some 100,000 tasks with long titles. */
const maxFile = 64 * 1024 * 1024;

const tooLarge = `A file to import has at most ${maxFile / 1024 ** 2} MiB.`;

/** How a file of each media type is read. */
const mediaTypes = new Map<string | undefined, Format>([
  ['text/plain', formats.text],
  ['application/json', formats.json],
  ['application/x-ndjson', jsonLines],
]);

/** Milliseconds a file may take to arrive: half a megabit per second. The proxy ends uploads that pause. */
export const uploadTime = 20 * 60_000;

type Used = Pick<Dependencies, 'store' | 'csrf' | 'render' | 'now' | 'gauges'>;

/** All tasks in a file, out and in. Neither way holds more than a few hundred tasks at a time. */
export function transferController({ store, csrf, render, now, gauges }: Used) {
  /** The page with the forms to import. The nonce makes a form that is sent twice import its tasks once. */
  const page = async (c: TasksContext, shown: Partial<Views['import']> = {}) =>
    render('import', { csrf: await csrf.issue(c), nonce: randomUUID(), ...shown });

  /** Imports a form's lines. The page contains the lines that were not imported, and no others. */
  const importForm = async (c: TasksContext, { text = '', nonce }: Input) => {
    const { tasks, report, refused } = await readLines(text, now());
    await store.insert(tasks, nonce);
    if (wantsJson(c)) return json(c, report);
    const typed = text.split(/\r?\n/);
    const left = typed.filter((_, i) => refused.has(i + 1)).join('\n');
    return html(c, await page(c, { report, typed, text: left }));
  };

  /** Imports the file of a form. After a failure of the store the page's form goes on where the import ended. */
  const importUpload = async (c: TasksContext, { fields, name, file }: Upload) => {
    const error = !(await csrf.verify(c, fields._csrf))
      ? expired()
      : name === '' && new TaskError('invalid_field', 'Choose a file.');
    if (error) throw Object.assign(error, { form: { text: '' } });
    const { nonce } = fields;
    let batch = 0;
    const insert = (tasks: NewTask[]) => store.insert(tasks, nonce && `${nonce} ${++batch}`);
    const format = /\.(nd)?json$/i.test(name) ? formats.json : formats.text;
    const { report, stop } = await importTasks(file, format, insert, now());
    const [status, headers] = stop ? errorStatus(stop) : [];
    const again = stop?.code === 'store_unavailable';
    return html(c, await page(c, { report, again, ...(again && nonce && { nonce }) }), status, headers);
  };

  const importBody = async (c: TasksContext) => {
    const type = mediaType(c);
    if (type === 'multipart/form-data') {
      requireSameOrigin(c.req);
      return withUpload(c, maxFile, tooLarge, (upload) => importUpload(c, upload));
    }
    const format = mediaTypes.get(type);
    if (!format) return withInput(c, csrf, (input) => importForm(c, input));
    if (type === 'text/plain') requireKnownOrigin(c.req);
    else requireSameOrigin(c.req);
    const file = limitedBody(c, maxFile, tooLarge);
    const { report, stop } = await importTasks(file, format, (tasks) => store.insert(tasks), now());
    return stop ? problem(c, stop, report) : json(c, report);
  };

  return {
    async export(c: TasksContext) {
      const name = queryParameter(c, 'format') ?? (wantsJson(c) ? 'json' : 'text');
      if (name !== 'json' && name !== 'text') {
        throw new TaskError('bad_filter', `The format is json or text, not ${JSON.stringify(name)}.`);
      }
      const format = formats[name];
      return respond(c, await started(written(store, format)), 200, {
        'Content-Type': format.type,
        Vary: 'Accept, Accept-Encoding',
        'Content-Disposition': `attachment; filename="tasks.${name === 'json' ? 'json' : 'txt'}"`,
        ...noStore,
      });
    },

    async new(c: TasksContext) {
      return html(c, await page(c));
    },

    async import(c: TasksContext) {
      gauges?.imports.inc();
      try {
        return await importBody(c);
      } finally {
        gauges?.imports.dec();
      }
    },
  };
}

async function* written(store: TaskStore, format: Format): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let text = format.before;
  let first = true;
  for await (const batch of store.export()) {
    for (const task of batch) {
      text += format.line(task, first);
      first = false;
    }
    yield encoder.encode(text);
    text = '';
  }
  yield encoder.encode(format.after);
}

/** Streams `chunks` once the first one is there, so that a store that fails at once gets a response of its own. */
async function started(chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>) {
  const first = await chunks.next();
  return ReadableStream.from(
    (async function* () {
      if (!first.done) yield first.value;
      yield* chunks;
    })(),
  ) as ReadableStream<Uint8Array<ArrayBuffer>>;
}
