import { escapeControls } from '@longhand/shared/control-characters.ts';
import { within } from '@longhand/shared/durations.ts';
import { loggedError } from '@longhand/shared/logged-error.ts';
import { type BulkLine, processList } from '../bulk/process-list.ts';
import { type NumberedUrl, readUrlStream } from '../bulk/url-list.ts';
import { createCommandExpander } from './expander.ts';
import { type Options, readOptions } from './options.ts';
import { createOutput, createProgress, type Output, type Progress } from './output.ts';
import { manual, usage } from './usage.ts';

/** Maximum milliseconds to wait for a slow reader after an interruption. */
const patience = 1_000;

/** Runs the command. @returns its exit status. */
export async function run(): Promise<number> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`${escapeControls((error as Error).message)}\n\n${usage}`);
    return 2;
  }
  const output = createOutput(process.stdout);
  // Results on the same terminal already show progress.
  const isDrawn = process.stderr.isTTY && !process.stdout.isTTY;
  const progress = createProgress(isDrawn, (text) => process.stderr.write(text));
  const work = options.help ? output.end(manual) : expandAll(options, output, progress);
  try {
    const signal = await Promise.race([work, output.failed]);
    if (signal) return 128 + signal;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // EPIPE: the reader, such as `head`, has exited.
    if (code !== 'EPIPE') {
      process.stderr.write(`longhand-expand: ${escapeControls(message)}\n`);
      return 2;
    }
  }
  return progress.failed() > 0 ? 1 : 0;
}

/** Expands all URLs. @returns the number of the signal that interrupted the command, if any. */
async function expandAll(options: Options, output: Output, progress: Progress): Promise<number | undefined> {
  const expand = await createCommandExpander(options);
  const given = options.urls.values().map((url, i): NumberedUrl => [i + 1, url]);
  const urls = options.urls.length > 0 ? given : readUrlStream(process.stdin);
  const write = (line: BulkLine) => {
    progress.step(line.error === null);
    return output.write(options.format(line));
  };
  const stopped = Promise.withResolvers<number>();
  process.once('SIGINT', () => stopped.resolve(2));
  process.once('SIGTERM', () => stopped.resolve(15));
  const done = processList(urls, expand, write, {
    concurrency: options.concurrency,
    onFault: (fault) => console.error(loggedError(fault)),
  }).then(() => output.end());
  const signal = await Promise.race([done, stopped.promise]);
  if (signal) await within(patience, output.end(), undefined);
  progress.end(signal ? ': interrupted' : '');
  return signal;
}
