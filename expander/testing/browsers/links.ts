import { cookies } from './cookies.ts';
import type { Link } from './link.ts';
import { pageLinks } from './pages.ts';
import { departures, redirectLinks } from './redirects.ts';

/** All links that are compared. */
export const links: readonly Link[] = [...redirectLinks, ...pageLinks, ...cookies, ...departures];
