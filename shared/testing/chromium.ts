import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core';

/** Browsers from Debian packages. The headless shell is twice as fast as the full Chromium. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const { CHROMIUM = installed.find(existsSync) ?? 'chromium' } = process.env;

/** A program that starts Chromium so that requests survive network changes; null on unsupported platforms. */
export const undisturbed =
  process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) && existsSync('/usr/bin/perl')
    ? `${import.meta.dirname}/chromium.pl`
    : null;

/**
 * `RenderDocument` makes navigation take twice as long. The other features are Playwright's defaults, repeated because Chromium uses
 * only the last `--disable-features`.
 */
const disabledFeatures =
  'RenderDocument,AvoidCorsURLLoaderRestartOnRedirect,AvoidUnnecessaryBeforeUnloadCheckSync,' +
  'HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,' +
  'PaintHolding,ThirdPartyStoragePartitioning';

const switches =
  '--no-sandbox --disable-gpu --in-process-gpu --renderer-process-limit=1 --disable-quic --no-first-run ' +
  '--disable-background-networking --disable-component-update --disable-sync';

/**
 * Starts `CHROMIUM`, by default Debian's Chromium, headless. Disables services that contact other hosts. Uses few processes,
 * which reduces the time to open a page in a new context by 25%.
 */
export function launchChromium(...args: string[]): Promise<Browser> {
  return chromium.launch(optionsOf(args));
}

function optionsOf(args: string[]): LaunchOptions {
  return {
    executablePath: undisturbed ?? CHROMIUM,
    env: { ...process.env, CHROMIUM, FONTCONFIG_FILE: `${import.meta.dirname}/fonts.conf` },
    args: [
      ...switches.split(' '),
      // CDPScreenshotNewSurface is a Playwright default. NetworkServiceInProcess2 saves a process.
      '--enable-features=CDPScreenshotNewSurface,NetworkServiceInProcess2',
      `--disable-features=${disabledFeatures}`,
      ...args,
    ],
  };
}

/** Starts Chromium with the profile in `folder`, which a killed Chromium may have left. */
export async function openProfile(folder: string): Promise<BrowserContext> {
  await rm(`${folder}/SingletonLock`, { force: true });
  return chromium.launchPersistentContext(folder, optionsOf([]));
}

/** Kills the browser of `context` at once, as an operating system does. */
export async function killBrowser(context: BrowserContext): Promise<void> {
  const session = await context.browser()?.newBrowserCDPSession();
  const { processInfo = [] } = (await session?.send('SystemInfo.getProcessInfo')) ?? {};
  const closed = new Promise((resolve) => context.once('close', resolve));
  for (const { type, id } of processInfo) if (type === 'browser') process.kill(id, 'SIGKILL');
  await closed;
}

let browser: Promise<Browser> | undefined;

/** Starts one Chromium per process. Names under `test` and `local` resolve to 127.0.0.1. Callers must close their contexts. */
export function sharedChromium(): Promise<Browser> {
  browser ??= launchChromium('--host-resolver-rules=MAP *.test 127.0.0.1,MAP *.local 127.0.0.1');
  return browser;
}
