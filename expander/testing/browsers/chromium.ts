import { setTimeout as after } from 'node:timers/promises';
import { launchChromium } from '@longhand/shared/testing/chromium.ts';
import type { Browser, Page } from 'playwright-core';
import { maxDelay } from '../../src/hop/html-document.ts';
import { errorAt, type Link, leftByScript, savedAs, startOf } from './link.ts';
import { type Protocol, type Stage, userAgentOf } from './stage.ts';

const parallelPages = 2;

/** Starts a Chromium that connects to the stage for all hosts and trusts its certificate. */
export const openChromium = ({ port, tlsPorts, fingerprint }: Stage, protocol: Protocol) =>
  launchChromium(
    `--host-resolver-rules=MAP *:443 127.0.0.1:${tlsPorts[protocol]}, MAP * 127.0.0.1:${port}`,
    `--ignore-certificate-errors-spki-list=${fingerprint}`,
  );

/** Follows each link in Chromium. @returns the final URL in the address bar, or the name of the saved file. */
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
    for (const [index, link] of queue) {
      const { compares } = link;
      const start = startOf(link);
      await session.send('Network.setUserAgentOverride', { userAgent: userAgentOf(index) });
      await open(page, 'about:blank');
      const download =
        compares === 'file' ? page.waitForEvent('download', { timeout: 0 }).catch(() => null) : null;
      const { url, failure, isDownload } = await open(page, start);
      // Chromium stays on the empty page or shows an error page if the target is not a website.
      const end = /^https?:/.test(url) ? url : start;
      const saved = isDownload ? await download : null;
      if (saved) ends.set(index, savedAs(saved.suggestedFilename()));
      else if (compares === 'script') ends.set(index, end === start ? end : leftByScript);
      else ends.set(index, errors.test(failure) ? errorAt(end) : end);
      await saved?.cancel();
      await context.clearCookies();
    }
    await context.close();
  };
  await Promise.all(Array.from({ length: parallelPages }, followSome));
  return ends;
}

/** Matches Chromium's errors that Longhand also reports. */
const errors = /MULTIPLE|TOO_MANY_REDIRECTS|INVALID_HTTP|TRUNCATED|EMPTY_RESPONSE|HTTP2/;

/** Maximum milliseconds to load a page. */
const loadTimeout = 20_000;

/**
 * Opens a URL and waits for a page without a refresh that Longhand would follow.
 *
 * @returns the URL in the address bar, Chromium's error if any, and whether Chromium downloads a file.
 */
async function open(page: Page, start: string) {
  let [url, isNavigating, isLoading, redirects] = [start, true, true, false];
  const steps: string[] = [];
  const settled = Promise.withResolvers<void>();
  // Events may still refer to the previous page during the navigation.
  const isSettled = () => !isNavigating && !isLoading && (!redirects || reloadsForever(steps));
  const check = async () => {
    if (!isSettled()) return;
    // Page events may arrive after browser events, but they arrive before the page evaluates this expression.
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
    after(loadTimeout, false, { ref: false }),
  ]);
  await session.detach();
  return { url: inTime ? url : `still loading ${url}`, failure, isDownload };
}

/** Whether the last three redirects have the same target. */
function reloadsForever(steps: readonly string[]): boolean {
  return steps.length > 2 && new Set(steps.slice(-3)).size === 1;
}
