import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first. */
const longest = [
  'proxy/composed.test.ts',
  'loadtest/load.test.ts',
  'tasks/src/web/accessible.browser.test.ts',
  'tasks/src/web/list.browser.test.ts',
  'tasks/src/redis/crash.test.ts',
  'deploy/native/main.test.ts',
  'deploy/native/privileges.test.ts',
  'deploy/observe/observe.test.ts',
  'expander/src/web/page.accessibility.browser.test.ts',
  'tasks/src/web/slow.browser.test.ts',
  'tasks/src/web/live.browser.test.ts',
  'proxy/edge-cache.test.ts',
  'tasks/src/redis/failover.test.ts',
  'proxy/native.test.ts',
  'proxy/fronts.test.ts',
  'proxy/crowd.test.ts',
  'proxy/memory.test.ts',
  'loadtest/rehearsal/rehearsal.test.ts',
  'deploy/native/damaged.test.ts',
  'deploy/backup.test.ts',
  'deploy/compose/up.test.ts',
  'tasks/src/main.test.ts',
  'expander/src/cli/longhand-expand.test.ts',
  'expander/src/hop/http-client.test.ts',
  'tasks/src/web/plain.browser.test.ts',
  'expander/src/browsers.browser.test.ts',
  'expander/src/web/hostile.browser.test.ts',
  'shared/src/serve.test.ts',
  'tasks/src/redis/store.test.ts',
  'tasks/src/redis/changes.test.ts',
];

/**
 * Starts the files that take longest first, whatever project they belong to: otherwise one worker is left with one of
 * them while the others have nothing to do.
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
