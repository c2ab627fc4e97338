import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first. */
const longest = [
  'proxy/release.test.ts',
  'proxy/composed.test.ts',
  'loadtest/load.test.ts',
  'deploy/install.test.ts',
  'deploy/native/main.test.ts',
  'deploy/compose/up.test.ts',
  'deploy/observe/observe.test.ts',
  'tasks/src/web/accessible.browser.test.ts',
  'expander/src/web/page.accessibility.browser.test.ts',
  'proxy/edge-cache.test.ts',
  'tasks/src/web/list.browser.test.ts',
  'tasks/src/web/scripts.browser.test.ts',
  'tasks/src/main.test.ts',
  'tasks/src/redis/store.test.ts',
  'tasks/src/redis/failover.test.ts',
  'tasks/src/reconnect.test.ts',
  'proxy/native.test.ts',
  'tasks/src/restart.test.ts',
  'loadtest/rehearsal/rehearsal.test.ts',
  'deploy/backup.test.ts',
  'proxy/memory.test.ts',
];

/**
 * Starts the files that take longest first: otherwise one worker is left with one of them while the others have nothing
 * to do.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((file) => moduleId.endsWith(`/${file}`));
      return found === -1 ? longest.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
