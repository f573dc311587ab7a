// Loaded before the conformance suite, which has no option for a token: each of its requests gets one.
import { Agent, setGlobalDispatcher } from "undici"

const token = ["authorization", `Bearer ${process.env.MCP_TOKEN}`]
const withToken = (headers) => (Array.isArray(headers) ? [...headers, ...token] : { ...headers, [token[0]]: token[1] })
setGlobalDispatcher(
  new Agent().compose((dispatch) => (options, handler) => dispatch({ ...options, headers: withToken(options.headers) }, handler)),
)
