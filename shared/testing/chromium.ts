import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's Chromium, or that of `CHROMIUM`, headless, without the services that would look up hosts of their own. */
export function launchChromium(...args: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: undisturbed() ?? process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  });
}

/** The way to start it on Linux that keeps the containers of other tests from breaking off its requests. */
function undisturbed(): string | undefined {
  return existsSync('/usr/bin/perl') && process.platform === 'linux'
    ? `${import.meta.dirname}/chromium.pl`
    : undefined;
}
