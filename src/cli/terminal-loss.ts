/**
 * Keeps a command alive after the loss of its terminal: a lost SSH session sends SIGHUP and makes later writes fail, and
 * neither may interrupt a change half-way. Calls back once.
 */
export function surviveTerminalLoss(onLoss: () => void): { end(): void } {
  let lost = false;
  const onSign = () => {
    if (!lost) onLoss();
    lost = true;
  };
  const streams = [process.stdout, process.stderr];
  process.on('SIGHUP', onSign);
  for (const stream of streams) {
    // The listener of the framework throws, which would end the process.
    stream.removeAllListeners('error');
    stream.on('error', onSign);
  }
  return {
    end() {
      process.off('SIGHUP', onSign);
      // The listeners of the streams stay, because later output must not fail either.
    },
  };
}
