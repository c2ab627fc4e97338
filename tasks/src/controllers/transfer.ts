import { Refusal } from '../task/errors.ts';
import type { TaskStore } from '../task/task.ts';
import { type Format, formats, importTasks, lines } from '../task/transfer.ts';
import { bounded } from '../web/body.ts';
import type { TasksContext } from '../web/context.ts';
import type { Csrf } from '../web/csrf.ts';
import { refusedStatus } from '../web/error-response.ts';
import { requireKnownOrigin, requireSameOrigin } from '../web/fetch-metadata.ts';
import { mediaType, readInput } from '../web/input.ts';
import { html, json, noStore, respond, wantsJson } from '../web/responses.ts';
import type { Render } from '../web/views.ts';

/** Bytes of an imported file: some 100 000 tasks with long titles. */
const maxFile = 64 * 1024 * 1024;

/** Milliseconds in which it has to arrive: half a megabit a second. Who pauses on the way is the proxy's concern. */
export const uploadTime = 20 * 60_000;

const formatOf: Record<string, Format> = {
  'text/plain': formats.text,
  'application/json': formats.json,
  'application/x-ndjson': formats.json,
};

interface TransferDependencies {
  store: TaskStore;
  csrf: Csrf;
  render: Render;
  now: () => Date;
}

/** All tasks in a file, out and in. Neither way holds more than a few hundred tasks at a time. */
export function transferController({ store, csrf, render, now }: TransferDependencies) {
  const insert = store.insert.bind(store);

  /** Imports what a form says. The page gives back the lines that were not imported, and no other one. */
  const importForm = async (c: TasksContext) => {
    const { text = '' } = await readInput(c, csrf);
    const refused = new Set<number>();
    const source = lines([Buffer.from(text)]);
    const { report, stop } = await importTasks(source, formats.text, insert, now(), (line) =>
      refused.add(line),
    );
    if (wantsJson(c)) return json(c, report, ...ending(stop));
    const { stopped = Number.POSITIVE_INFINITY } = report;
    const typed = text.split(/\r?\n/);
    const left = typed.filter((_, i) => refused.has(i + 1) || i + 1 >= stopped).join('\n');
    const page = render('import', { report, typed, text: left, csrf: await csrf.issue(c) });
    return html(c, page, ...ending(stop));
  };

  return {
    async export(c: TasksContext) {
      const name = c.req.query('format') ?? (wantsJson(c) ? 'json' : 'text');
      if (name !== 'json' && name !== 'text') {
        throw new Refusal('bad_filter', `An export is json or text; not ${JSON.stringify(name)}.`);
      }
      const format = formats[name];
      return respond(c, await started(written(store, format)), 200, {
        'Content-Type': format.type,
        'Content-Disposition': `attachment; filename="tasks.${name === 'json' ? 'json' : 'txt'}"`,
        ...noStore,
      });
    },

    /** The page with the form to import. */
    async new(c: TasksContext) {
      return html(c, render('import', { csrf: await csrf.issue(c) }), 200, noStore);
    },

    async import(c: TasksContext) {
      const format = formatOf[mediaType(c) ?? ''];
      if (!format) return importForm(c);
      const requireOrigin = format === formats.text ? requireKnownOrigin : requireSameOrigin;
      requireOrigin((name) => c.req.header(name), c.req.url);
      if (Number(c.req.header('content-length') ?? 0) > maxFile) throw tooLarge();
      const file = bounded(c.req.raw.body, maxFile, tooLarge);
      const { report, stop } = await importTasks(lines(leavingOff(file)), format, insert, now());
      await readOut(file);
      return json(c, report, ...ending(stop));
    },
  };
}

/** `chunks` for a reader who may leave off: `for await` would close them. */
function leavingOff(chunks: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) };
}

/** Reads what is left of `chunks`: a client, or a proxy, that cannot send the rest may never look for the answer. */
async function readOut(chunks: AsyncGenerator<Uint8Array>): Promise<void> {
  try {
    while (!(await chunks.next()).done);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

/** Status and headers of a report, by what ended the import before the file did. */
function ending(stop: Refusal | undefined): [status: number, headers: Record<string, string>] {
  return stop ? refusedStatus(stop) : [200, noStore];
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

/** A stream of `pieces` whose first one is there, so that a store that fails at once is an answer of its own. */
async function started(pieces: AsyncGenerator<Uint8Array<ArrayBuffer>>) {
  const first = await pieces.next();
  return ReadableStream.from(
    (async function* () {
      if (!first.done) yield first.value;
      yield* pieces;
    })(),
  ) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

function tooLarge(): Refusal {
  return new Refusal('body_too_large', `A file to import has at most ${maxFile / 1024 ** 2} MiB.`);
}
