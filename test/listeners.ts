import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** TCP sockets of IPv4 on which a process listens, as address and inode of /proc/net/tcp. */
export function listeners(pid: number): string[] {
  const inodes = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  return lines.flatMap((line) => {
    const [, address = '', , state, , , , , , inode = ''] = line.trim().split(/ +/);
    return state === '0A' && inodes.includes(inode) ? [`${address} ${inode}`] : [];
  });
}
