import { jsonEntries, lines } from '../task/entries.ts';
import { TaskError } from '../task/errors.ts';
import { type Format, formats } from '../task/formats.ts';
import { importTasks, type Report } from '../task/import.ts';
import type { InProgress, TaskStore } from '../task/task.ts';
import { limitedBody } from '../web/body.ts';
import { queryParameter, type TasksContext } from '../web/context.ts';
import type { Csrf } from '../web/csrf.ts';
import { errorStatus, problem } from '../web/error-response.ts';
import { requireKnownOrigin, requireSameOrigin } from '../web/fetch-metadata.ts';
import { type Input, mediaType, withInput } from '../web/input.ts';
import { html, json, noStore, respond, wantsJson } from '../web/responses.ts';
import type { Render } from '../web/views.ts';

/** Bytes of an imported file: some 100,000 tasks with long titles. */
const maxFile = 64 * 1024 * 1024;

/** Milliseconds a file may take to arrive: half a megabit per second. The proxy ends uploads that pause. */
export const uploadTime = 20 * 60_000;

interface TransferDependencies {
  store: TaskStore;
  csrf: Csrf;
  render: Render;
  now: () => Date;
  inProgress?: InProgress | undefined;
}

/** All tasks in a file, out and in. Neither way holds more than a few hundred tasks at a time. */
export function transferController({ store, csrf, render, now, inProgress }: TransferDependencies) {
  const insert = store.insert.bind(store);

  /** Imports a form's lines. The page contains the lines that were not imported, and no others. */
  const importForm = async (c: TasksContext, { text = '' }: Input) => {
    const refused = new Set<number>();
    const source = lines([Buffer.from(text)]);
    const { report, stop } = await importTasks(source, formats.text, insert, now(), (line) =>
      refused.add(line),
    );
    if (wantsJson(c)) return reportJson(c, report, stop);
    const { stopped = Number.POSITIVE_INFINITY } = report;
    const typed = text.split(/\r?\n/);
    const left = typed.filter((_, i) => refused.has(i + 1) || i + 1 >= stopped).join('\n');
    const page = render('import', { report, typed, text: left, csrf: await csrf.issue(c) });
    const [status, headers] = stop ? errorStatus(stop) : [200, noStore];
    return html(c, page, status, headers);
  };

  const importFile = async (c: TasksContext, type: 'text' | 'json' | 'ndjson') => {
    if (type === 'text') requireKnownOrigin(c.req);
    else requireSameOrigin(c.req);
    const file = limitedBody(c, maxFile, `A file to import has at most ${maxFile / 1024 ** 2} MiB.`);
    const source = type === 'json' ? jsonEntries(file) : lines(file);
    const format = type === 'text' ? formats.text : formats.json;
    const { report, stop } = await importTasks(source, format, insert, now());
    return reportJson(c, report, stop);
  };

  const importBody = async (c: TasksContext) => {
    const type = mediaType(c);
    if (type === 'text/plain') return importFile(c, 'text');
    if (type === 'application/json') return importFile(c, 'json');
    if (type === 'application/x-ndjson') return importFile(c, 'ndjson');
    return withInput(c, csrf, (input) => importForm(c, input));
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

    /** The page with the import form. */
    async new(c: TasksContext) {
      return html(c, render('import', { csrf: await csrf.issue(c) }), 200, noStore);
    },

    async import(c: TasksContext) {
      inProgress?.inc();
      try {
        return await importBody(c);
      } finally {
        inProgress?.dec();
      }
    },
  };
}

/** The report; if the import ended early, as a problem. */
function reportJson(c: TasksContext, report: Report, stop: TaskError | undefined): Response {
  return stop ? problem(c, stop, report) : json(c, report, 200, noStore);
}

async function* written(store: TaskStore, format: Format): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let first = true;
  for await (const batch of store.export()) {
    let text = first ? format.before : '';
    for (const task of batch) {
      text += format.line(task, first);
      first = false;
    }
    yield encoder.encode(text);
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
