/** `__SO_ACCEPTCON` and SOCK_STREAM, as the kernel prints them. */
const ROW = /^\S+: \S+ \S+ 00010000 0001 \S+ +\d+ (\/.+)$/;

/**
 * Parses /proc/net/unix: the paths of the stream sockets that accept connections. Other lines are skipped; a name may
 * contain anything but a line end. @source proc_net_unix(5)
 */
export function parseListeningUnixSockets(text: string): string[] {
  return text.split('\n').flatMap((line) => ROW.exec(line)?.[1] ?? []);
}
