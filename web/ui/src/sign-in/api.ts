import { request } from "../api/request";

/** Asks for a code. The answer is the same whether the address is known or not. */
export async function requestCode(email: string): Promise<void> {
  await request("POST /auth/otp/request", { body: { email } }, { personal: true });
}

/** Opens a session. Throws an `ApiError` with status 401 for a wrong or expired code. */
export async function verifyCode(email: string, code: string): Promise<void> {
  await request("POST /auth/otp/verify", { body: { email, code } }, { personal: true });
}
