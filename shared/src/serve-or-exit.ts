import { configurationExitCode } from './env.ts';
import { ListenError } from './listen.ts';
import { type Application, type ServeOptions, type Serving, serve } from './serve.ts';

/** Serves `app` as `serve` does. If it cannot listen, prints one line that says why and ends the process with 78. */
export async function serveOrExit(app: Application, options: ServeOptions): Promise<Serving> {
  try {
    return await serve(app, options);
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    console.error(error.message);
    process.exit(configurationExitCode);
  }
}
