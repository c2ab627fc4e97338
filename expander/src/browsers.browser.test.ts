import { shuffled } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumEnds } from '../testing/browsers/chromium.ts';
import { cookies } from '../testing/browsers/cookies.ts';
import { longhandEnds } from '../testing/browsers/longhand.ts';
import { pageLinks } from '../testing/browsers/pages.ts';
import { departures, redirectLinks } from '../testing/browsers/redirects.ts';
import { openStage, type Stage } from '../testing/browsers/stage.ts';

const links = [...redirectLinks, ...pageLinks, ...cookies, ...departures];

/** Links that are followed in Chromium, which needs 40 ms of a core for each. */
const count = rounds({ short: 12, long: links.length });

let stage: Stage;
let ends: string[];
beforeAll(async () => {
  stage = await openStage(links.map(({ website }) => website));
  ends = await longhandEnds(links, stage);
});
afterAll(() => stage.close());

test('every link ends where the snapshot says', () => {
  const lines = links.map(({ group, sent, chromium }, index) => {
    const elsewhere = chromium ? ` (Chromium: ${chromium})` : '';
    return `${group}: ${sent} => ${ends[index]}${elsewhere}`;
  });
  expect(lines.join('\n').replace(/x{40,}/g, (run) => `x…x (${run.length} times)`)).toMatchSnapshot();
});

const duration = { timeout: 600_000 };
test(`Chromium ends where follow=all does (${count} of ${links.length} links)`, duration, async () => {
  const expected = (index: number) => links[index]?.chromium ?? ends[index];
  const some = shuffled([...links.keys()]).slice(0, count);
  const theirs = await chromiumEnds(some, stage);
  // On a busy machine a page may seem to stay where it is before it leads on: a second look decides.
  const differing = some.filter((index) => theirs.get(index) !== expected(index));
  if (differing.length > 0)
    for (const [index, end] of await chromiumEnds(differing, stage)) theirs.set(index, end);
  const described = (end: (index: number) => string | undefined) =>
    some.map((index) => `${links[index]?.group}: ${links[index]?.sent} => ${end(index)}`);
  expect(described((index) => theirs.get(index))).toEqual(described(expected));
});
