/** Runs a program. On an error, prints only the message and exits with 1. */
export async function program(main: () => Promise<void>): Promise<void> {
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
