import { startShortener } from '@longhand/shortener';

/** One link shortener for all tests of this process; it ends with the process. */
export const shortener = await startShortener();
