/** The local shortener in a process of its own; asked anything, it tells the connections opened to it. */
import { startShortener } from '@longhand/shortener';

const shortener = await startShortener();
process.on('message', () => process.send?.(shortener.connections));
process.send?.({ url: shortener.url });
