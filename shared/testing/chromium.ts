import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's browsers: the headless shell needs half the time of the whole Chromium for the same pages. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const { CHROMIUM = installed.find(existsSync) ?? 'chromium' } = process.env;

/** Starts Chromium so that the containers of other tests do not break off its requests; null where it cannot be done. */
export const undisturbed =
  process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) && existsSync('/usr/bin/perl')
    ? `${import.meta.dirname}/chromium.pl`
    : null;

/**
 * Features that Chromium does without. `RenderDocument` makes a new frame for each document, which doubles the cost of a
 * navigation. Playwright disables the others, but Chromium obeys only the last switch of a name.
 */
const disabledFeatures = [
  'RenderDocument',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
];

/**
 * Debian's Chromium, or that of `CHROMIUM`, headless, without the services that would look up hosts of their own, and
 * with as few processes as it can do with: a page in a context of its own then costs a quarter less.
 */
export function launchChromium(...args: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: undisturbed ?? CHROMIUM,
    env: { ...process.env, CHROMIUM, FONTCONFIG_FILE: `${import.meta.dirname}/fonts.conf` },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--in-process-gpu',
      // The first is Playwright's; the second saves a process.
      '--enable-features=CDPScreenshotNewSurface,NetworkServiceInProcess2',
      `--disable-features=${disabledFeatures}`,
      '--renderer-process-limit=1',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  });
}

let browser: Promise<Browser> | undefined;

/**
 * One Chromium for all tests of this process; it ends with the process. Names under `test` and `local` lead to this machine.
 * Callers close the contexts that they open.
 */
export function sharedChromium(): Promise<Browser> {
  browser ??= launchChromium('--host-resolver-rules=MAP *.test 127.0.0.1,MAP *.local 127.0.0.1');
  return browser;
}
