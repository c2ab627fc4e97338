import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first; seconds alone on two cores, rounded. */
const longest = ['proxy/composed.test.ts', 'loadtest/load.test.ts'];

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
