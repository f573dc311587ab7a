// Made by `vault-memory install opencode`; `vault-memory uninstall opencode` deletes it. For opencode 1.
import { spawn, spawnSync } from "node:child_process"

const COMMAND = __COMMAND__
const TIMEOUT_MS = 5000

function ask(event) {
  return new Promise((resolve) => {
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS })
      let told = ""
      child.stdout.on("data", (part) => (told += part))
      child.on("error", () => resolve(""))
      child.stdin.on("error", () => {})
      child.on("close", () => {
        try {
          resolve(JSON.parse(told).hookSpecificOutput.additionalContext)
        } catch {
          resolve("")
        }
      })
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve("")
    }
  })
}

// opencode may end at once after this, so it is waited for.
function tell(event) {
  try {
    spawnSync(COMMAND[0], COMMAND.slice(1), { input: JSON.stringify(event), stdio: ["pipe", "ignore", "ignore"], timeout: TIMEOUT_MS })
  } catch {}
}

export const VaultMemory = async () => {
  const agents = new Set() // sessions that another has called
  const answers = new Map() // session -> { id of the model's last message, its texts by part }
  return {
    "chat.message": async (input, output) => {
      if (agents.has(input.sessionID)) return
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      if (!typed.length) return
      const prompt = typed.map((part) => part.text).join("\n")
      const text = await ask({ hook_event_name: "UserPromptSubmit", session_id: input.sessionID, prompt })
      if (!text) return
      const { id, sessionID, messageID } = output.parts[output.parts.length - 1]
      output.parts.push({ id: `${id}m`, sessionID, messageID, type: "text", text, synthetic: true })
    },
    event: async ({ event }) => {
      const { type, properties } = event
      if (type === "session.created" && properties.info?.parentID) agents.add(properties.info.id)
      if (type === "message.updated" && properties.info?.role === "assistant") {
        const { id, sessionID } = properties.info
        if (answers.get(sessionID)?.id !== id) answers.set(sessionID, { id, texts: new Map() })
      }
      if (type === "message.part.updated" && properties.part?.type === "text") {
        const { id, sessionID, messageID, text } = properties.part
        const answer = answers.get(sessionID)
        if (answer?.id === messageID) answer.texts.set(id, text)
      }
      if (type === "session.compacted") tell({ hook_event_name: "PreCompact", session_id: properties.sessionID })
      if (type === "session.idle" && answers.has(properties.sessionID)) {
        const said = [...answers.get(properties.sessionID).texts.values()].join("\n\n")
        answers.delete(properties.sessionID)
        if (agents.has(properties.sessionID) || !said) return
        tell({ hook_event_name: "Stop", session_id: properties.sessionID, last_assistant_message: said })
      }
    },
  }
}
