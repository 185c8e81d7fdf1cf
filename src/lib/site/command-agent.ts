/** How a command of gw names itself to a gateway (`User-Agent`). It tells people who ordered something, and grants nothing. */
export const COMMAND_AGENT = 'gw-command';
