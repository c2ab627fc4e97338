import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Moves lynx from a field to the next link or button that begins with `name`, and presses it. */
export const press = (name: string): string[] => ['^I', '/', ...name, '^J', '^J'];

/** Opens `url` in lynx, sends `keys`, leaves the focused field and quits. */
export async function pressInLynx(url: string, keys: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-lynx-'));
  try {
    const script = join(folder, 'keys');
    await writeFile(
      script,
      [...keys, '^I', 'Q', 'y'].map((key) => `key ${key === ' ' ? '<space>' : key}\n`).join(''),
    );
    const settings = join(folder, 'lynx.cfg');
    // The default shows messages for seconds.
    await writeFile(settings, 'INFOSECS:0\nMESSAGESECS:0\nALERTSECS:0\nREPLAYSECS:0\n');
    const lynx = `lynx -case -cfg=${settings} -accept_all_cookies -cmd_script=${script} ${url}`;
    // lynx draws on a terminal, which util-linux's script provides.
    const env = { PATH: process.env.PATH, HOME: folder, TERM: 'vt100', LANG: 'C.UTF-8' };
    return (await run('script', ['-qec', lynx, '/dev/null'], { env, timeout: 20_000 })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
