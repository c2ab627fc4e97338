import { createInterface } from 'node:readline';
import { explain, type Found, readLine } from './waterfall.ts';

/** Explains the request of which standard input has the proxy's lines and the services' answers, one a line. */
const found: Found = { lines: [], requests: [] };
for await (const line of createInterface(process.stdin)) readLine(found, line);
console.log(explain(found.lines, found.requests));
