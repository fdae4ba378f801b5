import CLinux

/// A thread of its own for work that blocks; it ends with its body or with the process.
package enum SystemThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Returns 0, or a negative errno with nothing started; `name` has at most 15 bytes.
    package static func start(_ name: String, _ run: @escaping @Sendable () -> Void) -> Int32 {
        let context = unsafe Unmanaged.passRetained(Body(run))
        let answer = unsafe clinux_thread_start(
            name,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            },
            context.toOpaque()
        )
        if answer != 0 { unsafe context.release() }
        return answer
    }
}
