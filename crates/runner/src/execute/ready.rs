//! Waiting until a server listens: the host's kernel is asked, every 50 ms, in one program there.

use crate::tools::Listens;
use linerate_transport::Command;
use std::time::Duration;

/// `$1` protocol, `$2` port as the kernel writes it, `$3` state, `$4` process id. Ends with 0 when this process has a socket of that
/// port in that state: a stranger who listens there is not our server. Where its descriptors cannot be seen, any socket counts.
const SCRIPT: &str = r#"
while :; do
    for file in "/proc/net/$1" "/proc/net/${1}6"; do
        [ -r "$file" ] || continue
        while read -r _ local _ state _ _ _ _ _ inode _; do
            case $local in *:"$2") ;; *) continue ;; esac
            [ "$state" = "$3" ] || continue
            open=$(ls -l "/proc/$4/fd" 2>/dev/null)
            case $open in *"socket:[$inode]"*) exit 0 ;; *"->"*) ;; *) [ -d "/proc/$4" ] && exit 0 ;; esac
        done <"$file"
    done
    sleep 0.05
done
"#;

/// How long a server may take.
pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// Ends when the process listens on the port.
pub(super) fn wait(listens: Listens, port: u16, pid: u32) -> Command {
    // 0A: TCP_LISTEN; 07: TCP_CLOSE, which is what an unconnected UDP socket is in.
    let (protocol, state) = match listens {
        Listens::Tcp => ("tcp", "0A"),
        Listens::Udp => ("udp", "07"),
    };
    Command::script(SCRIPT, &[protocol, &format!("{port:04X}"), state, &pid.to_string()]).limit(LIMIT)
}
