//! Sets the loopback interface of a new network namespace up: test hosts talk over it.
//!
//! In: nothing. Out: `lo` is up. I/O: one netlink message.

use std::io;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// `RTM_NEWLINK` of `linux/rtnetlink.h`.
const NEW_LINK: u16 = 16;
/// `NLM_F_REQUEST | NLM_F_ACK` of `linux/netlink.h`.
const REQUEST_WITH_ANSWER: u16 = 1 | 4;
/// `NLMSG_ERROR`: the answer to every request; its code 0 means done.
const ANSWER: u16 = 2;
/// `IFF_UP` of `linux/if.h`.
const UP: u32 = 1;
/// The loopback interface is the first of every namespace.
const LOOPBACK: i32 = 1;

/// Sets `lo` up in the network namespace of this process.
pub(super) fn set_up() -> io::Result<()> {
    let socket =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    rustix::net::send(&socket, &request(), SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (_, length) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty())?;
    match code(answer.get(..length).unwrap_or_default()) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::other("the kernel's answer about the loopback interface cannot be read")),
    }
}

/// `struct nlmsghdr` and `struct ifinfomsg`, in the machine's byte order.
fn request() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    bytes.extend_from_slice(&32_u32.to_ne_bytes()); // length of all
    bytes.extend_from_slice(&NEW_LINK.to_ne_bytes());
    bytes.extend_from_slice(&REQUEST_WITH_ANSWER.to_ne_bytes());
    bytes.extend_from_slice(&1_u32.to_ne_bytes()); // sequence
    bytes.extend_from_slice(&0_u32.to_ne_bytes()); // port: the kernel
    bytes.extend_from_slice(&[0, 0, 0, 0]); // family, padding, device type
    bytes.extend_from_slice(&LOOPBACK.to_ne_bytes());
    bytes.extend_from_slice(&UP.to_ne_bytes()); // flags
    bytes.extend_from_slice(&UP.to_ne_bytes()); // which flags to change
    bytes
}

/// The error code of an answer, negative as the kernel writes it.
fn code(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let code = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == ANSWER).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_as_long_as_it_says() {
        let request = request();
        assert_eq!(request.len(), 32);
        assert_eq!(request[..4], 32_u32.to_ne_bytes());
    }

    #[test]
    fn a_refusal_is_read_and_a_cut_answer_is_no_consent() {
        let mut answer = vec![0_u8; 36];
        answer[4..6].copy_from_slice(&ANSWER.to_ne_bytes());
        answer[16..20].copy_from_slice(&(-1_i32).to_ne_bytes());
        assert_eq!(code(&answer), Some(-1));
        assert_eq!(code(&answer[..18]), None);
    }
}
