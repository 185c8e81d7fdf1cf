/** How a command of gw names itself to a gateway (`User-Agent`). For logs and people; it grants nothing. */
export const COMMAND_AGENT = 'gw-command';
