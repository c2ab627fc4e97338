import { setTimeout as after } from 'node:timers/promises';
import { launchChromium } from '@longhand/shared/testing/chromium.ts';
import type { Browser, Page } from 'playwright-core';
import { maxDelay } from '../../src/hop/html-document.ts';
import { errorAt, type Link, leftByScript, savedAs, start } from './link.ts';
import { type Stage, userAgentOf } from './stage.ts';

/** Open pages. */
const atATime = 2;

/** Starts a Chromium that connects to the stage for every host, and trusts its certificate. */
export const openChromium = ({ port, tlsPort, fingerprint }: Stage) =>
  launchChromium(
    `--host-resolver-rules=MAP *:443 127.0.0.1:${tlsPort}, MAP * 127.0.0.1:${port}`,
    `--ignore-certificate-errors-spki-list=${fingerprint}`,
  );

/** Returns the end of each link in real Chromium: the final URL in the address bar, or the name of the saved file. */
export async function chromiumEnds(
  links: ReadonlyMap<number, Link>,
  browser: Browser,
): Promise<Map<number, string>> {
  const ends = new Map<number, string>();
  const queue = links.entries();
  const followSome = async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    for (const [index, { counts }] of queue) {
      await session.send('Network.setUserAgentOverride', { userAgent: userAgentOf(index) });
      await open(page, 'about:blank');
      const download =
        counts === 'file' ? page.waitForEvent('download', { timeout: 0 }).catch(() => null) : null;
      const { url, failure, isDownload } = await open(page, start);
      // If the target is not a website, Chromium stays on the empty page or shows an error page.
      const end = /^https?:/.test(url) ? url : start;
      const saved = isDownload ? await download : null;
      if (saved) ends.set(index, savedAs(saved.suggestedFilename()));
      else if (counts === 'script') ends.set(index, end === start ? end : leftByScript);
      else ends.set(index, errors.test(failure) ? errorAt(end) : end);
      await saved?.cancel();
      await context.clearCookies();
    }
    await context.close();
  };
  await Promise.all(Array.from({ length: atATime }, followSome));
  return ends;
}

/** Chromium's names of errors that Longhand reports too. */
const errors = /MULTIPLE|TOO_MANY_REDIRECTS|INVALID_HTTP|TRUNCATED|EMPTY_RESPONSE/;

/** Milliseconds for a page to load. */
const patience = 20_000;

/**
 * Opens a URL, and follows redirects to a page that does not redirect within the time that Longhand waits for.
 *
 * @returns the URL in the address bar, Chromium's name of the first error or nothing, and whether this is a download.
 */
async function open(page: Page, start: string) {
  let [url, isNavigating, isLoading, redirects] = [start, true, true, false];
  const steps: string[] = [];
  const settled = Promise.withResolvers<void>();
  // Until Chromium has left the previous page, events may be about that page.
  const isSettled = () => !isNavigating && !isLoading && (!redirects || reloadsForever(steps));
  const check = async () => {
    if (!isSettled()) return;
    // The page's own events may arrive later than the browser's, but before the page's next response.
    await session.send('Runtime.evaluate', { expression: '0' }).catch(() => {});
    if (isSettled()) settled.resolve();
  };
  const load = () => {
    isLoading = true;
  };
  const session = await page.context().newCDPSession(page);
  session
    .on('Page.frameRequestedNavigation', load)
    .on('Page.frameStartedLoading', load)
    .on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId !== undefined) return;
      url = (frame.unreachableUrl ?? frame.url) + (frame.urlFragment ?? '');
    })
    .on('Page.navigatedWithinDocument', (event) => {
      url = event.url;
    })
    // This event precedes frameStoppedLoading.
    .on('Page.frameScheduledNavigation', (event) => {
      redirects = event.delay <= maxDelay;
      steps.push(event.url);
    })
    .on('Page.frameStoppedLoading', () => {
      isLoading = false;
      check();
    })
    .on('Page.frameClearedScheduledNavigation', () => {
      redirects = false;
      check();
    });
  await session.send('Page.enable');
  const { errorText: failure = '', isDownload = false } = await session.send('Page.navigate', { url: start });
  isNavigating = false;
  check();
  const inTime = await Promise.race([
    settled.promise.then(() => true),
    after(patience, false, { ref: false }),
  ]);
  await session.detach();
  return { url: inTime ? url : `still loading ${url}`, failure, isDownload };
}

/** Whether the last three steps lead to the same page. */
function reloadsForever(steps: readonly string[]): boolean {
  return steps.length > 2 && new Set(steps.slice(-3)).size === 1;
}
