import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type TextBrowser = 'w3m' | 'lynx';

/** Arguments to print a page, without the user's settings. */
const settings: Record<TextBrowser, string> = {
  w3m: '-config /dev/null -cols 100 -dump',
  lynx: '-cfg=/dev/null -width=100 -nolist -assume_charset=utf-8 -display_charset=utf-8 -dump',
};

/** Checks whether the browser is installed. `make setup` installs it on Debian. */
export async function hasTextBrowser(browser: TextBrowser): Promise<boolean> {
  return run(browser, ['-version']).then(
    () => true,
    ({ code }) => code !== 'ENOENT',
  );
}

/** Returns a page's text as shown by a text browser. Collapses white space. */
export async function readInTextBrowser(browser: TextBrowser, url: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', LANG: 'C.UTF-8' };
  const printed = run(browser, [...settings[browser].split(' '), url], { env, timeout: 20_000 });
  const { stdout } = await printed.catch((error) => {
    // lynx prints an error page and exits with 1.
    if (error.stdout) return error;
    throw error;
  });
  return stdout.replace(/\s+/g, ' ').trim();
}
