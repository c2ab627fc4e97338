import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Moves lynx from a field to the link or button after it whose text begins with `name`, and presses it. */
export const press = (name: string): string[] => ['^I', '/', ...name, '^J', '^J'];

/** Sends `keys` to lynx, which starts at `url`, then leaves the field that has the focus and quits. */
export async function pressInLynx(url: string, keys: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-lynx-'));
  try {
    const script = join(folder, 'keys');
    await writeFile(
      script,
      [...keys, '^I', 'Q', 'y'].map((key) => `key ${key === ' ' ? '<space>' : key}\n`).join(''),
    );
    const settings = join(folder, 'lynx.cfg');
    // It shows messages for some seconds otherwise.
    await writeFile(settings, 'INFOSECS:0\nMESSAGESECS:0\nALERTSECS:0\nREPLAYSECS:0\n');
    const lynx = `lynx -case -cfg=${settings} -accept_all_cookies -cmd_script=${script} ${url}`;
    // lynx draws on a terminal, which util-linux's script provides.
    const env = { PATH: process.env.PATH, HOME: folder, TERM: 'vt100', LANG: 'C.UTF-8' };
    return (await run('script', ['-qec', lynx, '/dev/null'], { env, timeout: 20_000 })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** w3m with a session of its own; `-dump` keeps no cookies. */
export async function openW3m(url: string) {
  const home = await mkdtemp(join(tmpdir(), 'longhand-w3m-'));
  const session = `Cookie: session=${randomBytes(16).toString('base64url')}`;
  const options = ['-config', '/dev/null', '-cols', '100', '-header', session];
  const w3m = async (...args: string[]) => {
    const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' };
    return (await run('w3m', [...options, ...args], { env, timeout: 20_000 })).stdout;
  };
  return {
    /** What w3m shows at `path`. */
    show: (path: string) => w3m('-dump', new URL(path, url).href),
    /**
     * Submits the form at `path` that contains a button with this label, as w3m sees forms: with the fields and buttons
     * between its tags only.
     *
     * @returns what w3m shows then.
     */
    async submit(path: string, label: string, typed: Record<string, string> = {}): Promise<string> {
      const source = await w3m('-dump_source', new URL(path, url).href);
      const forms = [...source.matchAll(/<form action="([^"]+)"[^>]*>(.*?)<\/form>/gs)];
      const form = forms.find(([, , content = '']) => content.includes(`>${label}</button>`));
      if (!form) throw new Error(`${path} has no form with the button ${label}`);
      const [, action = '', content = ''] = form;
      const hidden = [...content.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
      const fields = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...typed };
      const body = join(home, 'body');
      await writeFile(body, `${new URLSearchParams(fields)}`);
      return w3m('-post', body, '-dump', new URL(action, url).href);
    },
    close: () => rm(home, { recursive: true }),
  };
}
