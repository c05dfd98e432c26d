//! The two kinds of connections that a proxy is put into.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

pub(super) trait Connection: Read + Write + Send + Sized + 'static {
    /// The same connection once more.
    fn twin(&self) -> io::Result<Self>;

    /// Ends it. It may be over already.
    fn end(&self, how: Shutdown);

    /// Makes its end a reset, where there is such a thing.
    fn will_reset(&self) -> io::Result<()>;
}

impl Connection for UnixStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }

    fn will_reset(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Connection for TcpStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }

    fn will_reset(&self) -> io::Result<()> {
        Ok(rustix::net::sockopt::set_socket_linger(self, Some(Duration::ZERO))?)
    }
}
