import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** An MCP server behind OAuth, with its authorization server; `tokens` are those that it accepts. */
export function behindSignIn(server: RequestListener, tokens: Set<string>): RequestListener {
  let issued = 0;
  const token = (): object => {
    const access_token = `access-${++issued}`;
    tokens.add(access_token);
    return { access_token, token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh-0123456789' };
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const origin = `http://${request.headers.host}`;
    const url = new URL(request.url ?? '/', origin);
    const json = (value: object, status = 200): void =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    const isAllowed = tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '');
    if (url.pathname === '/mcp' && isAllowed) server(request, response);
    else if (url.pathname === '/mcp') response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
    else if (url.pathname === '/.well-known/oauth-protected-resource/mcp')
      json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    else if (url.pathname === '/.well-known/oauth-authorization-server')
      json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      });
    else if (url.pathname === '/authorize') {
      const back = (values: Record<string, string>): string =>
        `${url.searchParams.get('redirect_uri')}?${String(new URLSearchParams(values)).replaceAll('&', '&amp;')}`;
      const state = url.searchParams.get('state') ?? '';
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(
        `<a href="${back({ code: 'code-1', state })}">Allow</a> <a href="${back({ error: 'access_denied', state })}">Deny</a>`,
      );
    } else if (url.pathname === '/register')
      json({ ...(JSON.parse(await text(request)) as object), client_id: 'kvasir' }, 201);
    else if (url.pathname === '/token') json(token());
    else response.writeHead(404).end();
  };
  return (request, response) => void answer(request, response);
}
