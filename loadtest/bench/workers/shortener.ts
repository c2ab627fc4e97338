/** The local shortener in a separate process; replies to any message with the number of connections opened to it. */
import { startShortener } from '@longhand/shortener';

const shortener = await startShortener();
process.on('message', () => process.send?.(shortener.connections));
process.send?.({ url: shortener.url });
