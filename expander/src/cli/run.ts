import { escapeControls } from '@longhand/shared/control-characters.ts';
import { loggedError } from '@longhand/shared/logged-error.ts';
import { type BulkLine, processList } from '../bulk/process-list.ts';
import { type NumberedUrl, readUrlStream } from '../bulk/url-list.ts';
import { setUpResolver } from '../guard/resolver.ts';
import { type Options, readOptions } from './options.ts';
import { createOutput, createProgress } from './output.ts';
import { createUnshorten } from './unshorten.ts';
import { manual, usage } from './usage.ts';

/** The command `longhand-expand`. @returns its exit status. */
export async function run(): Promise<number> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`${escapeControls((error as Error).message)}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    await createOutput(process.stdout).end(manual);
    return 0;
  }
  try {
    return await expandAll(options);
  } catch (error) {
    process.stderr.write(`longhand-expand: ${escapeControls((error as Error).message)}\n`);
    return 2;
  }
}

async function expandAll(options: Options): Promise<number> {
  setUpResolver();
  const unshorten = await createUnshorten(options);
  const given = options.urls.values().map((url, i): NumberedUrl => [i + 1, url]);
  const urls = options.urls.length > 0 ? given : readUrlStream(process.stdin);
  const output = createOutput(process.stdout);
  const progress = createProgress({
    // Results on the same terminal are progress enough.
    isTTY: process.stderr.isTTY && !process.stdout.isTTY,
    write: (text) => process.stderr.write(text),
  });
  const status = () => (progress.failed() > 0 ? 1 : 0);
  const stopped = Promise.withResolvers<number>();
  // The reader has left, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    error.code === 'EPIPE' ? stopped.resolve(status()) : stopped.reject(error),
  );

  const write = (line: BulkLine) => {
    progress.step(line.error === null);
    return output.write(options.format(line));
  };
  const done = async () => {
    await processList(urls, unshorten, write, {
      concurrency: options.concurrency,
      onFault: (fault) => console.error(loggedError(fault)),
    });
    await output.end();
    progress.end();
    return status();
  };
  const interrupted = async (number: number) => {
    await output.end();
    progress.end(': interrupted');
    return 128 + number;
  };
  process.once('SIGINT', () => stopped.resolve(interrupted(2)));
  process.once('SIGTERM', () => stopped.resolve(interrupted(15)));
  return Promise.race([done(), stopped.promise]);
}
