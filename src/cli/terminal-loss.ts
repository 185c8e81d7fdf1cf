/**
 * Keeps a command alive whose terminal goes away: a lost SSH session sends SIGHUP and lets every later word to the
 * terminal fail, and neither may cut something in the middle that must come to its end. The loss is told once.
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
    // The framework has a listener that throws, which would end the process in the middle.
    stream.removeAllListeners('error');
    stream.on('error', onSign);
  }
  return {
    end() {
      process.off('SIGHUP', onSign);
      // The listeners of the streams stay: what is still to be printed must not end in an error of its own.
    },
  };
}
