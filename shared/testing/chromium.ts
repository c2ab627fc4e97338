import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's browsers. The headless shell takes half as long as the whole Chromium. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const { CHROMIUM = installed.find(existsSync) ?? 'chromium' } = process.env;

/** The program that starts a Chromium whose requests survive network changes; null on other platforms. */
export const undisturbed =
  process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) && existsSync('/usr/bin/perl')
    ? `${import.meta.dirname}/chromium.pl`
    : null;

/**
 * `RenderDocument` doubles the cost of a navigation. The rest repeats Playwright's list, because Chromium uses only the last
 * `--disable-features`.
 */
const disabledFeatures =
  'RenderDocument,AvoidCorsURLLoaderRestartOnRedirect,AvoidUnnecessaryBeforeUnloadCheckSync,' +
  'HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,' +
  'PaintHolding,ThirdPartyStoragePartitioning';

const switches =
  '--no-sandbox --disable-gpu --in-process-gpu --renderer-process-limit=1 --disable-quic --no-first-run ' +
  '--disable-background-networking --disable-component-update --disable-sync';

/**
 * Starts Debian's Chromium or `CHROMIUM`, headless, without services that look up other hosts. It has few processes, so a page in
 * its own context costs a quarter less.
 */
export function launchChromium(...args: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: undisturbed ?? CHROMIUM,
    env: { ...process.env, CHROMIUM, FONTCONFIG_FILE: `${import.meta.dirname}/fonts.conf` },
    args: [
      ...switches.split(' '),
      // The first feature is Playwright's default. The second saves a process.
      '--enable-features=CDPScreenshotNewSurface,NetworkServiceInProcess2',
      `--disable-features=${disabledFeatures}`,
      ...args,
    ],
  });
}

let browser: Promise<Browser> | undefined;

/** The Chromium of this process. Names under `test` and `local` resolve to this machine. Callers close their contexts. */
export function sharedChromium(): Promise<Browser> {
  browser ??= launchChromium('--host-resolver-rules=MAP *.test 127.0.0.1,MAP *.local 127.0.0.1');
  return browser;
}
